// jobcast doctor: checks everything between you and the service.

import type { Command } from 'commander'
import { ownerCommand, withOut } from '../define/owner-command.ts'
import { type BridgeFlags, checkBridge } from '../doctor/check-bridge.ts'
import { checkBucket } from '../doctor/check-bucket.ts'
import { checkData } from '../doctor/check-data.ts'
import { checkDatabase } from '../doctor/check-database.ts'
import { checkIssuer } from '../doctor/check-issuer.ts'
import { checkKey } from '../doctor/check-key.ts'
import { checkNetwork } from '../doctor/check-network.ts'
import { checkService } from '../doctor/check-service.ts'
import { type Finding, ok } from '../doctor/finding.ts'
import { exitCode } from '../errors/exit-code.ts'
import type { Style } from '../output/colors.ts'
import { padText, plainText } from '../output/text-width.ts'
import { type AccessFlags, findAccess } from '../service/access.ts'
import { freshAccess } from '../service/fresh-access.ts'

type DoctorFlags = AccessFlags & BridgeFlags & { data?: string; filesS3?: string }

const marks: Record<Finding['mark'], { sign: string; style: Style }> = {
  ok: { sign: '✓', style: 'green' },
  warning: { sign: '!', style: 'yellow' },
  problem: { sign: '✗', style: 'red' },
}

export function doctorCommand(): Command {
  return ownerCommand('doctor')
    .option('--data <folder>', 'also check this data folder on this machine')
    .option(
      '--bridge <url>',
      'also check your own MQTT broker; credentials as for serve, such as JOBCAST_BRIDGE_USER',
    )
    .option('--bridge-prefix <topic>', 'prefix of the topics of devices on the broker')
    .option(
      '--bridge-device <user>',
      'user name of a device on the broker: check that it cannot act as another device',
    )
    .option('--bridge-password-file <file>', 'file with the password of that user')
    .option(
      '--files-s3 <url>',
      'also check the bucket for files; credentials and JOBCAST_FILES_S3_DIRECT as for serve (default: JOBCAST_FILES_S3)',
    )
    .addHelpText(
      'after',
      '\nExits with 0 if every check passed or only warned, else with the code of the first problem.\n',
    )
    .action(
      withOut(async ({ out, io }, flags: DoctorFlags) => {
        const findings: Finding[] = []
        for await (const finding of checkAll(io.env, flags)) {
          findings.push(finding)
          // Printed as soon as it is known: the next check may take seconds.
          const { sign, style } = marks[finding.mark]
          const text = `${padText(finding.check, 10)}  ${plainText(finding.text)}`
          if (!out.json) out.line(`${out.paint(style, sign)} ${text}`)
        }
        const problem = findings.find(({ mark }) => mark === 'problem')
        const checks = findings.map(({ check, mark, text }) => ({ check, mark, text }))
        if (out.json) out.show({ ok: problem === undefined, checks }, () => '')
        return problem?.exit ?? exitCode.ok
      }),
    )
}

async function* checkAll(env: NodeJS.ProcessEnv, flags: DoctorFlags): AsyncGenerator<Finding> {
  yield ok('node', process.version)
  if (flags.data !== undefined) yield* checkData(flags.data)
  yield* checkDatabase(env)
  yield* checkBridge(env, flags)
  yield* checkBucket(env, flags.filesS3)
  const access = findAccess(flags, env)
  yield ok('address', `${access.url}, from ${access.urlFrom}`)
  for await (const finding of checkNetwork(access.url)) {
    yield finding
    if (finding.mark === 'problem') return
  }
  for await (const finding of checkService(access.url)) {
    yield finding
    if (finding.check === 'alive' && finding.mark === 'problem') return
  }
  yield* checkIssuer(access.url)
  yield* checkKey(access, () => freshAccess(access, env))
}
