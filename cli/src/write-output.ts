// The output of one execution on standard output, byte for byte.

import { type ExitCode, exitCode } from './exit-code.ts'
import { Interrupted, listenForInterrupt } from './interrupt.ts'
import type { OwnerContext } from './owner-command.ts'
import { UsageError } from './usage-error.ts'

export async function writeOutput(
  { client, out, io }: OwnerContext,
  id: number,
  { follow = false, attempt }: { follow?: boolean; attempt?: number },
): Promise<ExitCode> {
  if (out.json && follow) throw new UsageError('--json and --follow exclude each other: output is no JSON')
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
