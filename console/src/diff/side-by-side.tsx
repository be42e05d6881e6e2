// Two texts side by side with marked changes; one below the other in a narrow window.

import './side-by-side.css'
import { Fragment } from 'preact'
import { useMemo } from 'preact/hooks'
import { type DiffLine, diffLines, onlyChanges } from './diff-lines.ts'

type Props = { label: string; before: { name: string; text: string }; after: { name: string; text: string } }

export function SideBySide({ label, before, after }: Props) {
  const shown = useMemo(() => onlyChanges(diffLines(before.text, after.text)), [before.text, after.text])
  if (shown.length === 0) return <p class="quiet">{label}: no differences.</p>
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: long lines scroll
    <section class="side-by-side-diff" tabIndex={0} aria-label={label}>
      <table>
        <colgroup>
          <col class="numbers" />
          <col />
          <col class="numbers" />
          <col />
        </colgroup>
        <thead>
          <tr>
            <th scope="col" colSpan={2}>
              {before.name}
            </th>
            <th scope="col" colSpan={2}>
              {after.name}
            </th>
          </tr>
        </thead>
        <tbody>
          {shown.map(({ row: { left, right, isSame }, skipped }) => (
            <Fragment key={`${left?.number} ${right?.number}`}>
              {skipped > 0 && <Skipped count={skipped} />}
              <tr class={isSame ? 'same' : 'changed'}>
                <Half line={left} as={isSame ? 'span' : 'del'} />
                <Half line={right} as={isSame ? 'span' : 'ins'} />
              </tr>
            </Fragment>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Skipped({ count }: { count: number }) {
  return (
    <tr class="skipped">
      <td colSpan={4}>
        {count} equal {count === 1 ? 'line' : 'lines'}
      </td>
    </tr>
  )
}

function Half({ line, as: Tag }: { line: DiffLine | undefined; as: 'span' | 'del' | 'ins' }) {
  return (
    <>
      <td class="line-number">{line?.number}</td>
      <td class={`line ${line ? Tag : 'absent'}`}>{line && <Tag>{line.text}</Tag>}</td>
    </>
  )
}
