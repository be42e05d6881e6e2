// Sends the spool piece by piece, retrying each until it is answered. The server stores each byte once, so sending a
// piece twice is harmless.

import type { AttemptKey } from '../state/attempt-key.ts'
import { type AskDeps, ask } from '../transport/ask.ts'
import { orAborted } from '../transport/or-aborted.ts'
import { meansOver } from '../transport/transport.ts'
import { encodePiece, pieceBytes } from './encode-output.ts'
import type { OutputSpool } from './output-spool.ts'

/** How long output is buffered, so that a handler that prints letter by letter does not cause a request per letter. */
const gatherMs = 100

/** 'over': the server says that the attempt is over. */
type SentOutput = 'sent' | 'over'

/** Resolves when all is sent or the server needs no more. `isFirst`: nothing of this attempt was sent before. */
export async function sendOutput(
  deps: AskDeps,
  spool: OutputSpool,
  { jobId, attempt }: AttemptKey,
  isFirst: boolean,
  signal: AbortSignal,
): Promise<SentOutput> {
  const send = async (
    offset: number,
    piece: { data: string; encoding?: 'base64' },
  ): Promise<number | SentOutput> => {
    const { data, encoding } = piece
    const fields = { offset, data, ...(encoding && { encoding }), executionNumber: attempt }
    const answer = await ask(deps, { name: 'output', jobId }, fields, signal)
    if (answer.outcome === 'rejected' && meansOver(answer.code)) return 'over'
    const { offset: wanted, cut } = answer.json
    // A refused piece would be refused again.
    return isOffset(wanted) && cut !== true ? wanted : 'sent'
  }

  const begun = spool.lengthAtOpen
  let wanted = isFirst ? 0 : await send(begun, { data: '' })
  // After a power cut the disk may have less than the server: then the spool's offsets lag behind by this much.
  const lag = typeof wanted === 'number' ? Math.max(0, wanted - begun) : 0
  while (typeof wanted === 'number') {
    const offset = wanted - lag
    if (spool.length > offset) {
      if (spool.length - offset < pieceBytes) await gather(spool, signal)
      wanted = await send(wanted, encodePiece(await spool.read(offset, pieceBytes)))
    } else if (spool.hasEnded) {
      return 'sent'
    } else {
      await spool.wakeUp.wait(signal)
    }
  }
  return wanted
}

/** The server's answer says where to continue. It may be malformed, so it is checked. */
function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** Resolves after `gatherMs`, or when the output has ended. */
async function gather(spool: OutputSpool, signal: AbortSignal): Promise<void> {
  const delay = Promise.withResolvers<void>()
  const timer = setTimeout(delay.resolve, gatherMs)
  try {
    await orAborted(Promise.race([spool.ended, delay.promise]), signal)
  } finally {
    clearTimeout(timer)
  }
}
