import type { Transition } from '@jobcast/client'
import type { ComponentChildren } from 'preact'
import { stateStyles, type Tone } from '../../parts/exec-state.ts'
import { formatDuration, formatTime, parseTime } from '../../parts/time.ts'
import { actorOf } from './actor-of.ts'
import { movesOf, type Span, type Why } from './timeline.ts'

const tones: Record<Why, Tone> = {
  offline: 'off',
  behind: 'waiting',
  backoff: 'waiting',
  'not-now': 'waiting',
  ready: 'waiting',
  running: 'running',
  canceling: 'running',
}

/** A list of transitions with the time between them, and above it a bar with the shares of time. */
type Props = { spans: Span[]; history: Transition[] }

export function TimelineView({ spans, history }: Props) {
  const moves = movesOf(history)
  const after = Map.groupBy(spans, ({ version }) => version)
  return (
    <>
      <div class="time-bar" aria-hidden="true">
        {spans.map((span) => (
          <span
            key={`${span.version} ${span.from}`}
            class={`tone-${tones[span.why]}`}
            style={{ flexGrow: Math.max(1, span.to - span.from) }}
          />
        ))}
      </div>
      <ol class="timeline">
        {moves.flatMap((move) => [
          <Happened key={move.versionNumber} move={move} />,
          ...(after.get(move.versionNumber) ?? []).map((span) => (
            <Lasted key={`${span.version} ${span.from}`} span={span} />
          )),
        ])}
      </ol>
    </>
  )
}

function Happened({ move }: { move: Transition }) {
  const ms = parseTime(move.at)
  const { tone } = stateStyles[move.to]
  return (
    <li class={`happened tone-${tone}`}>
      <span>
        {describeTransition(move, actorOf(move))}
        {move.reason !== null && (
          <>
            : <bdi class="reason">{move.reason}</bdi>
          </>
        )}
      </span>
      <time dateTime={new Date(ms).toISOString()} class="quiet">
        {formatTime(ms)}
      </time>
    </li>
  )
}

function Lasted({ span }: { span: Span }) {
  return (
    <li class={`lasted tone-${tones[span.why]}`}>
      <span>{describeSpan(span)}</span>
    </li>
  )
}

function describeSpan({ why, from, to, isOpen, behind, awayMs, attempt }: Span): ComponentChildren {
  const long = formatDuration(to - from)
  const waited = isOpen ? `has waited ${long}` : `waited ${long}`
  switch (why) {
    case 'offline':
      return `${waited}: device offline`
    case 'behind':
      return (
        <>
          {waited}: behind <a href={`/executions/${behind}`}>execution {behind}</a>
        </>
      )
    case 'backoff':
      return `${isOpen ? 'has waited' : 'waited'} ${long} before attempt ${attempt}`
    case 'not-now':
      return `${waited}: the device said not now`
    case 'ready':
      return `${waited} for the device to start`
    case 'running':
      return `${isOpen ? 'has run' : 'ran'} ${long}${awayMs === undefined ? '' : `, the device offline for ${formatDuration(awayMs)} of it`}`
    case 'canceling':
      return `${waited} for the device to stop`
  }
}

function describeTransition({ from, to, event, actor, attempt }: Transition, name: string): string {
  const who = actor === 'device' || actor === 'clock' ? '' : `, by ${name}`
  if (from === null) return `Triggered${who}`
  if (event === 'not-now') return 'Not now'
  if (to === 'PENDING') return `Attempt ${attempt} failed, attempt ${attempt + 1} follows`
  if (event === 'refuse-cancel') return 'Cancel refused by the device'
  if (to === 'IN_PROGRESS') return attempt > 1 ? `Attempt ${attempt} started` : 'Started'
  if (to === 'CANCELING') return `Cancel requested${who}`
  const word = stateStyles[to].word
  const how =
    event === 'overrun-cancel'
      ? ', not confirmed by the device'
      : event === 'miss-deadline'
        ? ', deadline missed'
        : ''
  return `${word.charAt(0).toUpperCase()}${word.slice(1)}${how}${who}`
}
