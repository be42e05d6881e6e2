import { type ExitCode, exitCode } from '../errors/exit-code.ts'
import type { Out } from '../output/out.ts'
import { FleetFileError } from './parse-fleet.ts'

/** Reports everything that is wrong in the files, one problem per line, like a compiler. */
export async function explainFleet(out: Out, act: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await act()
  } catch (error) {
    if (!(error instanceof FleetFileError)) throw error
    for (const problem of error.problems) out.say(problem)
    const { length } = error.problems
    out.say(`Nothing was applied: ${length} ${length === 1 ? 'problem' : 'problems'} in the files.`)
    return exitCode.validation
  }
}
