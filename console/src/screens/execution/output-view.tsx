// The output of the device. Only visible rows are drawn; it follows the end until the user scrolls up.

import type { Execution } from '@jobcast/client'
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ErrorNote } from '../../parts/error-note.tsx'
import { formatCount } from '../../parts/exec-state.ts'
import { formatBytes } from '../../parts/format-bytes.ts'
import { Icon } from '../../parts/icon.tsx'
import { filterOf, isNumber } from '../../parts/wrong-filters.tsx'
import { setSearch } from '../../router.ts'
import type { Line } from './ansi.ts'
import { findLines } from './output-lines.ts'
import { OutputRow } from './output-row.tsx'
import { useOutput } from './read-output.ts'
import { RowMap } from './row-map.ts'

const rowHeight = 20
const rowsAhead = 20
/** Browsers do not draw more; of longer output only the end is shown, and all of it can be downloaded. */
const mostRows = 1_500_000
/** The distance from the end that is still considered the end. */
const endIsNearPx = 30

type Props = { execution: Execution; attempt: number; onAttempt: (attempt: number) => void }

export function OutputView({ execution, attempt, onAttempt }: Props) {
  const { lines: output, bytes, isRead, error } = useOutput(execution, attempt)
  const { lines } = output
  const [wraps, setWraps] = useState(false)
  const [follows, setFollows] = useState(true)
  const scroller = useRef<HTMLDivElement>(null)
  const view = useView(scroller)
  const columns = wraps ? Math.max(20, Math.floor((view.width - gutterPx) / view.letterPx)) : undefined
  const map = useMemo(() => new RowMap(columns), [columns, output])
  const allRows = map.extend(lines)
  const rows = Math.min(allRows, mostRows)
  const skipped = allRows - rows
  const search = useSearch(lines, bytes)

  useLayoutEffect(() => {
    const box = scroller.current
    if (box && follows) box.scrollTop = box.scrollHeight
  }, [rows, follows, columns, view.height])

  const showLine = (line: number) => {
    setFollows(false)
    const box = scroller.current
    if (box) box.scrollTop = (map.rowOf(line) - skipped) * rowHeight - box.clientHeight / 3
  }
  useEffect(() => {
    if (search.current !== undefined) showLine(search.current)
  }, [search.current])

  // A linked line is shown as soon as it is loaded.
  const wanted = Number(filterOf('line', { line: isNumber }) ?? Number.NaN) - 1
  const isWantedRead = wanted < lines.length
  useEffect(() => {
    if (isWantedRead) showLine(wanted)
  }, [wanted, isWantedRead, view.height])

  const first = Math.max(0, Math.floor(view.top / rowHeight) - rowsAhead)
  const last = Math.min(rows, Math.ceil((view.top + view.height) / rowHeight) + rowsAhead)
  const isEmpty = isRead && lines.length === 0
  return (
    <section class="panel output" aria-labelledby="output">
      <header>
        <h2 id="output">Output</h2>
        <span class="quiet" role="status">
          {formatCount(lines.length)} {lines.length === 1 ? 'line' : 'lines'}, {formatBytes(bytes)}
          {execution.outputCut && ', truncated: the device wrote more than is stored'}
        </span>
      </header>
      <div class="output-tools">
        <OutputSearch search={search} />
        {execution.attempt > 1 && (
          <select
            aria-label="Attempt"
            value={String(attempt)}
            onChange={(event) => onAttempt(Number(event.currentTarget.value))}
          >
            {Array.from({ length: execution.attempt }, (_, index) => (
              <option key={index} value={String(index + 1)}>
                Attempt {index + 1}
              </option>
            ))}
          </select>
        )}
        <button type="button" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>
          Wrap
        </button>
        <button type="button" aria-pressed={follows} onClick={() => setFollows(!follows)}>
          Follow
        </button>
        <a
          class="button"
          download={`execution-${execution.jobExecutionId}.log`}
          href={`/job/api/executions/${execution.jobExecutionId}/output?download=true&attempt=${attempt}`}
        >
          Download
        </a>
      </div>
      <ErrorNote error={error} />
      {skipped > 0 && (
        <p class="quiet">
          The last {formatCount(rows)} of {formatCount(allRows)} rows. All of it is in the download.
        </p>
      )}
      {isEmpty && <NoOutput execution={execution} />}
      <div
        class="output-rows"
        ref={scroller}
        hidden={lines.length === 0}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and must do so by keyboard
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-labelledby="output"
        onClick={(event) => {
          const line = (event.target as HTMLElement).closest<HTMLElement>('.line-number')?.dataset.number
          if (line) setSearch({ line, attempt: String(attempt) })
        }}
        onKeyDown={() => undefined} // keyboard users can put a line in the address
        onScroll={(event) => {
          const box = event.currentTarget
          view.onScroll(box)
          const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < endIsNearPx
          // Only the user scrolls up; growing output never does.
          if (box.scrollTop < view.top && !isAtEnd && follows) setFollows(false)
          else if (isAtEnd && !follows && box.scrollTop > view.top) setFollows(true)
        }}
      >
        <div
          class="output-body"
          style={{
            height: `${rows * rowHeight}px`,
            minWidth: wraps ? '0' : `calc(${output.width}ch + ${gutterPx}px)`,
          }}
        >
          {Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index).map((row) => {
            const part = map.partOf(row + skipped, lines)
            return (
              <OutputRow
                key={row}
                line={lines[part.line] as Line}
                number={isContinued(lines, part.line) || part.from > 0 ? undefined : part.line + 1}
                from={part.from}
                to={part.to}
                top={row * rowHeight}
                search={search.text}
                isCurrent={part.line === (search.current ?? wanted)}
              />
            )
          })}
        </div>
      </div>
    </section>
  )
}

/** The width of line numbers and padding. */
const gutterPx = 76

function isContinued(lines: readonly Line[], index: number): boolean {
  return lines[index - 1]?.goesOn ?? false
}

/** The visible part of the scroller, and the width of a character. */
function useView(scroller: { current: HTMLDivElement | null }) {
  const [view, setView] = useState({ top: 0, height: 400, width: 800, letterPx: 7.5 })
  useLayoutEffect(() => {
    const box = scroller.current
    if (!box) return
    const probe = document.createElement('span')
    probe.className = 'output-probe'
    probe.textContent = 'x'.repeat(100)
    box.append(probe)
    const letterPx = probe.getBoundingClientRect().width / 100 || 7.5
    probe.remove()
    const observer = new ResizeObserver(() =>
      setView((before) => ({ ...before, letterPx, height: box.clientHeight, width: box.clientWidth })),
    )
    observer.observe(box)
    return () => observer.disconnect()
  }, [scroller])
  return {
    ...view,
    onScroll: ({ scrollTop }: HTMLDivElement) => setView((before) => ({ ...before, top: scrollTop })),
  }
}

type Search = ReturnType<typeof useSearch>

function useSearch(lines: readonly Line[], bytes: number) {
  const [text, setText] = useState('')
  const [found, setFound] = useState<number[]>([])
  const [position, setPosition] = useState<number>()
  useEffect(() => {
    if (text === '') {
      setFound([])
      return
    }
    const life = new AbortController()
    // Debounced, because the user may be typing, and growing output is searched again.
    const timer = setTimeout(() => {
      void findLines(lines, text, life.signal).then(
        (lineNumbers) => !life.signal.aborted && setFound(lineNumbers),
      )
    }, 100)
    return () => {
      clearTimeout(timer)
      life.abort()
    }
  }, [text, bytes, lines])
  const step = (by: 1 | -1) => {
    if (found.length === 0) return
    const next = position === undefined ? (by === 1 ? 0 : found.length - 1) : position + by
    setPosition((next + found.length) % found.length)
  }
  return {
    text,
    found,
    position,
    current: position === undefined ? undefined : found[position],
    step,
    setText(next: string) {
      setText(next)
      setPosition(undefined)
    },
  }
}

function OutputSearch({ search: { text, setText, found, position, step } }: { search: Search }) {
  return (
    <div class="output-search">
      <input
        type="search"
        aria-label="Search the output"
        placeholder="Search the output"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter') step(event.shiftKey ? -1 : 1)
          if (event.key === 'Escape') setText('')
        }}
      />
      {text !== '' && (
        <>
          <span class="quiet" role="status">
            {position === undefined ? '' : `${formatCount(position + 1)} of `}
            {formatCount(found.length)} {found.length === 1 ? 'line' : 'lines'}
          </span>
          <button type="button" class="ghost" aria-label="Previous" onClick={() => step(-1)}>
            <Icon name="up" />
          </button>
          <button type="button" class="ghost" aria-label="Next" onClick={() => step(1)}>
            <Icon name="down" />
          </button>
        </>
      )}
    </div>
  )
}

function NoOutput({ execution: { execState } }: { execution: Execution }) {
  const title = execState === 'PENDING' ? 'Not started yet' : 'No output'
  return (
    <EmptyState icon="executions" title={title}>
      {execState === 'PENDING' && <p>Output appears here while the device writes it.</p>}
    </EmptyState>
  )
}
