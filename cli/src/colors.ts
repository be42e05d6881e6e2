// Colours, where they are seen: on a terminal, unless NO_COLOR says no or FORCE_COLOR says yes.

import { styleText } from 'node:util'
import type { ExecState } from '@jobcast/client'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

/** Node looks at the stream, at NO_COLOR, FORCE_COLOR and TERM. */
export function paintFor(stream: NodeJS.WriteStream): Paint {
  return (style, text) => (text === '' ? '' : styleText(style, text, { stream }))
}

const styleOfState: Record<ExecState, Style> = {
  PENDING: 'dim',
  IN_PROGRESS: 'cyan',
  CANCELING: 'yellow',
  SUCCEEDED: 'green',
  FAILED: 'red',
  TIMED_OUT: 'red',
  REJECTED: 'red',
  EXPIRED: 'red',
  CANCELED: 'yellow',
}

export function paintState(paint: Paint, state: ExecState, text: string = state): string {
  return paint(styleOfState[state], text)
}
