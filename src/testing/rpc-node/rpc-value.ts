/** JSON with whole numbers of any size, as nodes write it. */
export type RpcValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly RpcValue[]
  | { readonly [key: string]: RpcValue | undefined }

/** Text of a value: a bigint is a plain number in it. Members that are undefined are left out. */
export function rpcText(value: RpcValue): string {
  if (typeof value === 'bigint') return String(value)
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (isList(value)) return `[${value.map(rpcText).join(',')}]`
  const members = Object.entries(value).flatMap(([key, member]) =>
    member === undefined ? [] : [`${JSON.stringify(key)}:${rpcText(member)}`]
  )
  return `{${members.join(',')}}`
}

function isList(value: object): value is readonly RpcValue[] {
  return Array.isArray(value)
}
