const paths = {
  runs: 'M3 4h10M3 8h10M3 12h6',
  waits: 'M8 2v3M5 3h6M4 6h8l-1 7H5zM8 9v2',
  work: 'M2.5 4h4v3h-4zM2.5 10h4v3h-4zM9 5.500h4.500M9 11.500h4.500',
  ledger: 'M4 2h8v12H4zM4 5h3M4 8h6M4 11h3',
  state: 'M8 2l5 3v6l-5 3-5-3V5zM3 5l5 3 5-3M8 8v6',
  health: 'M2 8h3l2-5 3 10 2-5h2',
  find: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.5 10.5L14 14',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  help: 'M6 6a2 2 0 1 1 2.6 1.9c-.4.2-.6.5-.6 1v.6M8 12v.1',
  done: 'M3.5 8.5l3 3 6-7',
  running: 'M8 2.5a5.5 5.5 0 1 1-5.5 5.5',
  waiting: 'M5.5 3.5v9M10.5 3.5v9',
  failed: 'M4 4l8 8M12 4l-8 8',
  cancelled: 'M3 8h10',
  imported: 'M8 3v8M4.5 8L8 11.5 11.5 8M3 13.5h10',
  shield: 'M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z',
  write: 'M3 13l1-3.5L11 2.5l2.5 2.5-7 7z',
  copy: 'M6 5h7v8H6zM3 10V3h7',
  alert: 'M8 2l6.5 11.5h-13zM8 6.5v3M8 11.6v.1',
  down: 'M8 3v8M4.5 8L8 11.5 11.5 8M3 13.5h10',
  unknown: 'M8 4v5M8 12v.1',
  older: 'M10 3.5L5.5 8l4.5 4.5',
  newer: 'M6 3.5L10.5 8 6 12.5'
} as const

export type IconName = keyof typeof paths

/** A drawing of our own; the words beside it say the same. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.7"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
