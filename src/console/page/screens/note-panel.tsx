import { useState } from 'preact/hooks'
import { ask } from '../client/api.js'
import { saveFile } from '../client/browser.js'
import { status } from '../client/live.js'
import { problemOf } from '../client/query.js'
import { Command, copy, Section, say } from '../parts/basics.js'
import { Icon } from '../parts/icon.js'
import { noteCommand } from '../pure/commands.js'
import { shownText } from '../pure/shown-text.js'
import { verify } from './verification.js'

/** Notes: signed heads of the log that, kept elsewhere, anchor all before them. */
export function NotePanel() {
  return (
    <>
      <div class="ih">
        <h2>Notes</h2>
        <div class="mut">A note that is kept elsewhere anchors all before it</div>
      </div>
      <Section title="Sign a note">
        {status.value?.readOnly === true ? (
          <>
            <p class="mut">This ledger was opened without its key, so this page cannot sign.</p>
            <Command words={noteCommand} />
          </>
        ) : (
          <SignedNote />
        )}
      </Section>
      <KeptNote />
      <Section title="Do it all again" isOpen={false}>
        <p class="mut">Executes every unit again on its seals: dear, and it needs the code.</p>
        <button type="button" class="btn" onClick={() => verify({ replay: true })}>
          Verify and execute again
        </button>
      </Section>
      <Section title="What a note cannot say" isOpen={false}>
        <p class="mut">
          Nothing of what came after it, and nothing of whether a provider said the truth.
        </p>
      </Section>
    </>
  )
}

function SignedNote() {
  const [note, setNote] = useState('')
  const sign = () => {
    ask('note', {}).then(
      (found) => setNote(found.note),
      (thrown: unknown) => say(problemOf(thrown).message)
    )
  }
  return (
    <>
      {note === '' ? null : <pre class="js">{shownText(note)}</pre>}
      <div class="row">
        <button type="button" class="btn" onClick={sign}>
          Sign a note of now
        </button>
        {note === '' ? null : (
          <>
            <button type="button" class="btn" onClick={() => saveFile('anchor.txt', note)}>
              <Icon name="down" />
              Save
            </button>
            <button type="button" class="ib" aria-label="Copy the note" onClick={() => copy(note)}>
              <Icon name="copy" />
            </button>
          </>
        )}
      </div>
    </>
  )
}

/** A note that was kept elsewhere, to compare the log with. */
function KeptNote() {
  const [kept, setKept] = useState('')
  return (
    <Section title="Is this the log I know?">
      <p class="mut">
        Give a note that you kept: the verification says whether the log extends it.
      </p>
      <textarea
        class="inp mono note"
        rows={4}
        aria-label="Note"
        placeholder="tallystick/…"
        value={kept}
        onInput={({ currentTarget: { value } }) => setKept(value)}
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          const file = event.dataTransfer?.files[0]
          if (file === undefined) return
          event.preventDefault()
          file.text().then(setKept)
        }}
      />
      <button
        type="button"
        class="btn"
        disabled={kept.trim() === ''}
        onClick={() => verify({ notes: [{ source: 'this page', text: kept }] })}
      >
        Verify with it
      </button>
    </Section>
  )
}
