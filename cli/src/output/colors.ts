// Colors: on a terminal by default; NO_COLOR and FORCE_COLOR override.

import { WriteStream } from 'node:tty'
import { styleText } from 'node:util'
import type { ExecState } from '@jobcast/client'
import type { TextOutput } from '../io.ts'

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (style: Style, text: string) => string

export function paintFor(stream: TextOutput, env: NodeJS.ProcessEnv): Paint {
  if (!showsColors(stream, env)) return (_style, text) => text
  return (style, text) => (text === '' ? '' : styleText(style, text, { validateStream: false }))
}

function showsColors({ isTTY }: TextOutput, env: NodeJS.ProcessEnv): boolean {
  if (!isTTY && env.FORCE_COLOR === undefined) return false
  // Takes FORCE_COLOR, NO_COLOR and TERM into account.
  return WriteStream.prototype.getColorDepth(env) > 2
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
