// Sends what is in the spool, piece after piece, each asked until it is answered: the server keeps each byte once,
// so a piece that is sent twice does no harm.

import { type AskDeps, ask } from './ask.ts'
import { encodePiece, pieceBytes } from './encode-output.ts'
import { orAborted } from './or-aborted.ts'
import type { OutputSpool } from './output-spool.ts'
import { type AttemptKey, meansOver } from './transport.ts'

/** So long output gathers before it is sent: a handler that prints letter by letter is not as many requests. */
const gatherMs = 100

/** 'over': the server says that nobody waits for this attempt any more. */
export type SentOutput = 'sent' | 'over'

/** Resolves when all is sent, or nothing more is wanted. `isFirst`: nothing of this attempt was ever sent. */
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
    // What it is not content with now it will not be content with later.
    return typeof wanted === 'number' && cut !== true ? wanted : 'sent'
  }

  const begun = spool.lengthAtOpen
  let wanted = isFirst ? 0 : await send(begun, { data: '' })
  // A power cut can take from our disk what the server has: then our offsets lag behind by so much.
  const lag = typeof wanted === 'number' ? Math.max(0, wanted - begun) : 0
  while (typeof wanted === 'number') {
    const offset = wanted - lag
    if (spool.length > offset) {
      if (spool.length - offset < pieceBytes) await gather(spool, signal)
      wanted = await send(wanted, encodePiece(await spool.read(offset, pieceBytes)))
    } else if (spool.hasEnded) {
      return 'sent'
    } else {
      await spool.news.wait(signal)
    }
  }
  return wanted
}

/** Resolves after a moment, or at once when there will be no more. */
async function gather(spool: OutputSpool, signal: AbortSignal): Promise<void> {
  const moment = Promise.withResolvers<void>()
  const timer = setTimeout(moment.resolve, gatherMs)
  try {
    await orAborted(Promise.race([spool.ended, moment.promise]), signal)
  } finally {
    clearTimeout(timer)
  }
}
