// Prints the output of one execution.

import type { OwnerContext } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { filterFor } from '../output/terminal-filter.ts'
import { listenForInterrupt } from '../signals/interrupt.ts'

export type OutputFlags = { follow?: boolean; attempt?: number; raw?: boolean }

export async function writeOutput(
  { client, out, io }: OwnerContext,
  id: number,
  { follow = false, attempt, raw }: OutputFlags,
): Promise<ExitCode> {
  if (out.json && follow) throw new UsageError('--json or --output, and --follow, cannot be used together')
  const { signal, stop } = listenForInterrupt(io)
  try {
    const output = await client.executions.output(id, { follow, attempt, signal })
    if (out.json) {
      out.show({ jobExecutionId: id, attempt: output.attempt, text: await output.text() }, () => '')
      return exitCode.ok
    }
    const filter = filterFor(io.stdout, { raw })
    for await (const bytes of output) await out.bytes(filter.push(bytes), signal)
    await out.bytes(filter.end() + filter.resetColors(), signal)
    return exitCode.ok
  } catch (error) {
    // After an abort, the reason determines the exit code, not the error that it led to.
    throw signal.aborted ? signal.reason : error
  } finally {
    stop()
  }
}
