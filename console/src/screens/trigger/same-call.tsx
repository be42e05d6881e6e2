import { useMemo, useState } from 'preact/hooks'
import { CodeBlock } from '../../parts/code-block.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { type Call, type CallKind, callTexts } from './call-texts.ts'

const kinds = Object.keys(callTexts) as CallKind[]

/** The call of the button for a terminal, a script or a program. */
export default function SameCall({ url, jobName, deviceIds, tag, where, release }: Call) {
  const [kind, setKind] = useState<CallKind>('curl')
  const { whole, shown } = useMemo(
    () => callTexts[kind]({ url, jobName, deviceIds, tag, where, release }),
    [kind, url, jobName, deviceIds, tag, where, release],
  )
  return (
    <section class="panel same-call" aria-labelledby="same-call">
      <header>
        <h2 id="same-call">The same call</h2>
        <CopyButton text={whole} />
      </header>
      <fieldset class="ways">
        <legend class="hidden">As</legend>
        {kinds.map((name) => (
          <label key={name}>
            <input type="radio" name="kind" checked={kind === name} onChange={() => setKind(name)} />
            {name}
          </label>
        ))}
      </fieldset>
      <CodeBlock text={shown} label={`The call as ${kind}`} />
    </section>
  )
}
