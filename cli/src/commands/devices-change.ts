// jobcast devices change: changes many devices at once.

import type { Command } from 'commander'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { exitCode } from '../errors/exit-code.ts'
import { UsageError } from '../errors/usage-error.ts'
import { type AttributeValue, parseAttribute } from '../flags/attribute.ts'
import { repeatable } from '../flags/target-devices.ts'

type Flags = {
  where?: string
  device?: string[]
  addTag?: string[]
  removeTag?: string[]
  attribute?: [string, AttributeValue][]
  removeAttribute?: string[]
  dryRun?: true
}

const shownFailures = 20

export function changeDevicesCommand(): Command {
  return ownerCommand('change')
    .description('Change tags and attributes of many devices.')
    .option('--where <selector>', 'all devices that match, for example "tag=kiosk and fw<2.4.0"')
    .addOption(repeatable('-d, --device <id>', 'this device; can be repeated'))
    .addOption(repeatable('--add-tag <tag>', 'add a tag; can be repeated'))
    .addOption(repeatable('--remove-tag <tag>', 'remove a tag; can be repeated'))
    .addOption(repeatable('--attribute <name=value>', 'set an attribute; can be repeated', parseAttribute))
    .addOption(repeatable('--remove-attribute <name>', 'remove an attribute; can be repeated'))
    .option('--dry-run', 'show how many would change, and change nothing')
    .action(
      withClient(async ({ client, out }, flags: Flags) => {
        const { where, device, addTag, removeTag, attribute = [], removeAttribute = [], dryRun } = flags
        if ((where === undefined) === (device === undefined)) {
          throw new UsageError('give the devices either by --where or by --device')
        }
        const attributes = { ...Object.fromEntries(attribute), ...nulls(removeAttribute) }
        if (!addTag && !removeTag && Object.keys(attributes).length === 0) {
          throw new UsageError(
            'say what to change: --add-tag, --remove-tag, --attribute or --remove-attribute',
          )
        }
        const result = await client.devices.change(
          {
            ...(where !== undefined && { where }),
            ...(device && { deviceIds: device }),
            ...(addTag && { addTags: addTag }),
            ...(removeTag && { removeTags: removeTag }),
            ...(Object.keys(attributes).length > 0 && { attributes }),
          },
          { dryRun },
        )
        const { matched, changed, failed, failedTotal } = result
        for (const { deviceId, code, message } of failed.slice(0, shownFailures)) {
          out.say(`${deviceId}: ${message} (${code})`)
        }
        if (failedTotal > shownFailures) out.say(`… and ${failedTotal - shownFailures} more`)
        const failures = failedTotal === 0 ? '' : `, ${failedTotal} failed`
        out.show(
          result,
          () => `${matched} matched, ${changed} ${dryRun ? 'would change' : 'changed'}${failures}`,
        )
        return failedTotal === 0 ? exitCode.ok : exitCode.validation
      }),
    )
}

function nulls(names: string[]): Record<string, null> {
  return Object.fromEntries(names.map((name) => [name, null]))
}
