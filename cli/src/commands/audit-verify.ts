// jobcast audit verify: checks whether an export of the audit matches its seals. Works without the service.

import { createReadStream, readFileSync } from 'node:fs'
import { AuditVerifier, type Checkpoint, readCheckpoint } from '@jobcast/contract/audit'
import { systemReason } from '@jobcast/contract/words'
import type { Command } from 'commander'
import { plainCommand, withOut } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { instantBack } from '../flags/duration.ts'
import { wholeNumber } from '../flags/whole-number.ts'

/** A seal has the hashes of up to 2,000 entries, and an entry has two values of up to 32 KiB. */
const maxLineLength = 4 * 1024 * 1024

type VerifyFlags = { checkpoint: string; keptDays: number; exported?: string }

export function verifyCommand(): Command {
  return plainCommand('verify')
    .description('Verify an export of the audit log against a checkpoint that was stored elsewhere.')
    .argument('<file>', 'export (jobcast audit export)')
    .requiredOption(
      '--checkpoint <file>',
      'checkpoint (jobcast audit checkpoint, or the data of audit.sealed)',
    )
    .option(
      '--kept-days <days>',
      'how long the service retains entries (its keep-audit)',
      wholeNumber(1),
      400,
    )
    .option('--exported <instant>', 'when the export was made (default: now)', instantBack)
    .addHelpText(
      'after',
      '\nThe service is not contacted. Exits with 0, or with 6 and the first auditId that fails verification.\n' +
        '\nExample:\n  jobcast audit verify audit.ndjson --checkpoint checkpoint.json\n',
    )
    .action(
      withOut(async ({ out }, file: string, { checkpoint, keptDays, exported }: VerifyFlags) => {
        const exportedAt = exported === undefined ? Date.now() : Date.parse(exported)
        const verifier = new AuditVerifier(readKept(checkpoint), { keptDays, exportedAt })
        await readAll(file, verifier)
        const verdict = verifier.end()
        if (verdict.kind === 'fits') {
          const { entries, seals, from, to } = verdict
          out.show({ fits: true, entries, seals, from, to }, () => {
            return `The audit log is intact: ${entries} entries under ${seals} seals, from ${from} to ${to}.`
          })
          return exitCode.ok
        }
        const { auditId, because } = verdict
        out.show({ fits: false, auditId, because }, () => {
          return `The audit log is damaged from entry ${auditId} on: ${because}.`
        })
        return exitCode.differs
      }),
    )
}

function readKept(file: string): Checkpoint {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${systemReason(error as Error)}`)
  }
  const checkpoint = readCheckpoint(parse(text))
  if (checkpoint === undefined) throw new UsageError(`${file} is not a checkpoint of the audit.`)
  return checkpoint
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Splits only at line feeds: an entry may contain other characters that readline takes for a line end. */
async function readAll(file: string, verifier: AuditVerifier): Promise<void> {
  let rest = ''
  try {
    for await (const piece of createReadStream(file, 'utf8')) {
      const lines = (rest + piece).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (!verifier.add(line)) return
      if (rest.length > maxLineLength) break
    }
  } catch (error) {
    throw new UsageError(`Cannot read ${file}: ${systemReason(error as Error)}`)
  }
  if (rest !== '') verifier.add(rest)
}
