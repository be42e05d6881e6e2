// jobcast doctor: what stands between you and the service, each with a mark.

import type { Command } from 'commander'
import { ownerCommand, withOut } from '../define/owner-command.ts'
import { checkData } from '../doctor/check-data.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkKey } from '../doctor/check-key.ts'
import { checkNetwork } from '../doctor/check-network.ts'
import { checkService } from '../doctor/check-service.ts'
import { type Finding, good } from '../doctor/finding.ts'
import { exitCode } from '../errors/exit-code.ts'
import type { Style } from '../output/colors.ts'
import { padText, plainText } from '../output/text-width.ts'
import { type AccessFlags, findAccess } from '../service/access.ts'

type DoctorFlags = AccessFlags & { data?: string }

const marks: Record<Finding['mark'], { sign: string; style: Style }> = {
  good: { sign: '✓', style: 'green' },
  warning: { sign: '!', style: 'yellow' },
  bad: { sign: '✗', style: 'red' },
}

export function doctorCommand(): Command {
  return ownerCommand('doctor')
    .option('--data <folder>', 'also look at this data folder on this machine')
    .addHelpText('after', '\nEnds with 0 if nothing is bad, else with the code of the first trouble.\n')
    .action(
      withOut(async ({ out, io }, flags: DoctorFlags) => {
        const findings: Finding[] = []
        for await (const finding of checkAll(io.env, flags)) {
          findings.push(finding)
          // Each as soon as it is known: the next may take its time.
          const { sign, style } = marks[finding.mark]
          const text = `${padText(finding.check, 10)}  ${plainText(finding.text)}`
          if (!out.json) out.line(`${out.paint(style, sign)} ${text}`)
        }
        const trouble = findings.find(({ mark }) => mark === 'bad')
        const checks = findings.map(({ check, mark, text }) => ({ check, mark, text }))
        if (out.json) out.show({ good: trouble === undefined, checks }, () => '')
        return trouble?.exit ?? exitCode.ok
      }),
    )
}

async function* checkAll(env: NodeJS.ProcessEnv, flags: DoctorFlags): AsyncGenerator<Finding> {
  yield good('node', process.version)
  if (flags.data !== undefined) yield* checkData(flags.data)
  yield* checkDatabase(env)
  const access = findAccess(flags, env)
  yield good('address', `${access.url}, from ${access.urlFrom}`)
  for await (const finding of checkNetwork(access.url)) {
    yield finding
    if (finding.mark === 'bad') return
  }
  for await (const finding of checkService(access.url)) {
    yield finding
    if (finding.check === 'alive' && finding.mark === 'bad') return
  }
  yield* checkKey(access)
}
