// Prints the output of one execution.

import type { OwnerContext } from '../define/owner-command.ts'
import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { Interrupted, listenForInterrupt } from '../signals/interrupt.ts'

export async function writeOutput(
  { client, out, io }: OwnerContext,
  id: number,
  { follow = false, attempt }: { follow?: boolean; attempt?: number },
): Promise<ExitCode> {
  if (out.json && follow) throw new UsageError('--json and --follow cannot be used together')
  const interrupt = listenForInterrupt(io)
  const { signal } = interrupt
  try {
    const output = await client.executions.output(id, { follow, attempt, signal })
    if (out.json) {
      out.show({ jobExecutionId: id, attempt: output.attempt, text: await output.text() }, () => '')
      return exitCode.ok
    }
    for await (const bytes of output) await out.bytes(bytes, signal)
    return exitCode.ok
  } catch (error) {
    if (signal.reason instanceof Interrupted) return signal.reason.exitCode
    throw error
  } finally {
    interrupt.stop()
  }
}
