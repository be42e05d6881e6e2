// jobcast devices: devices and their tokens.

import { type Device, type DeviceContent, isJobcastError, type Jobcast } from '@jobcast/client'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { listCommand } from '../define/list-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { collect } from '../flags/collect.ts'
import { repeatable } from '../flags/target-devices.ts'
import { localTime } from '../output/local-time.ts'
import { fieldsText } from '../output/print-table.ts'
import { countCommand, importDevicesCommand } from './devices-select.ts'

type ListFlags = { tag?: string; where?: string; online?: true; offline?: true }
type PutFlags = {
  name?: string
  tag?: string[]
  clearTags?: true
  attribute?: [string, AttributeValue][]
  clearAttributes?: true
  timeZone?: string
}
type AttributeValue = string | number | boolean

export function devicesCommand(): Command {
  const rm = removeCommand({
    argument: 'deviceId',
    noun: 'device',
    consequence: 'Its unfinished executions are canceled.',
    remove: (client, name) => client.devices.delete(name),
  })
  const revoke = removeCommand({
    name: 'revoke',
    argument: 'deviceId',
    verb: ['Revoke the token of', 'Revoked the token of'],
    noun: 'device',
    consequence: 'The device is disconnected immediately, and its certificate is rejected from now on.',
    remove: (client, name) => client.devices.revokeCredential(name),
  })
  return groupCommand(
    'devices',
    lsCommand(),
    countCommand(),
    getCommand(),
    putCommand(),
    importDevicesCommand(),
    tokenCommand(),
    revoke.description('Revoke the tokens of devices. They cannot connect until they get a new one.'),
    allowCertificateCommand(),
    rm.description('Delete devices.'),
  ).addHelpText(
    'after',
    '\nExamples:\n  jobcast devices --tag berlin --offline\n  TOKEN=$(jobcast devices token kiosk-1)\n',
  )
}

function lsCommand(): Command {
  return listCommand<Device, ListFlags>(
    [
      { title: 'DEVICE', of: ({ deviceId }) => deviceId },
      { title: 'NAME', of: ({ deviceName }) => deviceName },
      {
        title: 'STATE',
        of: ({ online }) => (online ? 'online' : 'offline'),
        paint: (text, { online }, paint) => paint(online ? 'green' : 'dim', text),
      },
      { title: 'SINCE', of: ({ since }) => localTime(since) },
      { title: 'TAGS', of: ({ tags }) => tags.join(', ') || null },
    ],
    (client, { tag, where, online, offline }) =>
      client.devices.list({ limit: 200, tag, where, online: online ?? (offline && false) }),
  )
    .description('List devices (default).')
    .option('--tag <tag>', 'only devices with this tag')
    .option('--where <selector>', 'only devices that match, for example "site=berlin and fw<2.4.0"')
    .addOption(new Option('--online', 'only devices that are online').conflicts('offline'))
    .option('--offline', 'only devices that are offline')
}

function getCommand(): Command {
  return ownerCommand('get')
    .description('Show a device.')
    .argument('<deviceId>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const device = await client.devices.get(name)
        const { deviceId, deviceName, tags, online, transport } = device
        out.show(device, () =>
          fieldsText(
            {
              device: deviceId,
              name: deviceName,
              tags: tags.join(', ') || null,
              attributes: attributesText(device.attributes),
              reported: attributesText(device.reportedAttributes),
              'time zone': device.timeZone,
              state: online ? 'online' : 'offline',
              since: localTime(device.since),
              'last seen': localTime(device.lastSeenAt),
              transport,
              'token created': localTime(device.credentialCreatedAt),
              'token created by': device.credentialCreatedBy,
              'certificate revoked': localTime(device.certificateRevokedAt),
              created: localTime(device.createdAt),
              updated: localTime(device.updatedAt),
            },
            out.paint,
          ),
        )
      }),
    )
}

function putCommand(): Command {
  return ownerCommand('put')
    .description('Create or update a device.')
    .argument('<deviceId>')
    .option('--name <text>', 'display name (default: the deviceId)')
    .option('--tag <tag>', 'tag; can be repeated, and replaces all existing tags', collect)
    .addOption(new Option('--clear-tags', 'remove all tags').conflicts('tag'))
    .addOption(repeatable('--attribute <name=value>', 'set an attribute; can be repeated', parseAttribute))
    .option('--clear-attributes', 'remove all attributes that --attribute does not set')
    .option('--time-zone <name>', 'IANA time zone of the device, for example Europe/Berlin')
    .addHelpText('after', '\nFields without a flag keep their value.\n')
    .action(
      withClient(async ({ client, out }, name: string, flags: PutFlags) => {
        const base = await contentOf(client, name)
        const tags = flags.clearTags ? [] : flags.tag
        const { created, value } = await client.devices.put(name, {
          ...base,
          ...(flags.name !== undefined && { deviceName: flags.name }),
          ...(tags && { tags }),
          attributes: {
            ...(flags.clearAttributes ? {} : base.attributes),
            ...Object.fromEntries(flags.attribute ?? []),
          },
          ...(flags.timeZone !== undefined && { timeZone: flags.timeZone }),
        })
        out.say(`${created ? 'Created' : 'Updated'} device ${name}.`)
        out.show(value, () => '')
      }),
    )
}

function tokenCommand(): Command {
  return ownerCommand('token')
    .description('Create a new token for a device. It is shown only once and replaces the previous one.')
    .argument('<deviceId>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const credential = await client.devices.createCredential(name)
        out.say(`New token of device ${name}. It is shown only once and replaces the previous one:`)
        out.show(credential, () => credential.deviceToken)
      }),
    )
}

function allowCertificateCommand(): Command {
  return ownerCommand('allow-certificate')
    .description('Accept client certificates of a revoked device again. Its token does not change.')
    .argument('<deviceId>')
    .action(
      withClient(async ({ client, out }, name: string) => {
        const device = await client.devices.allowCertificate(name)
        out.say(`Certificates of device ${name} are accepted again.`)
        out.show(device, () => '')
      }),
    )
}

/** A number, true or false where the text is what JSON writes for one, which 2.10 is not; in double quotes it is text. */
function parseAttribute(text: string): [string, AttributeValue] {
  const at = text.indexOf('=')
  if (at < 1) throw new InvalidArgumentError('It must be name=value.')
  const [name, value] = [text.slice(0, at), text.slice(at + 1)]
  const [, quoted] = /^"([^"\\]*)"$/.exec(value) ?? []
  if (quoted !== undefined) return [name, quoted]
  const number = Number(value)
  if (Number.isFinite(number) && String(number) === value) return [name, number]
  return [name, value === 'true' || (value === 'false' ? false : value)]
}

function attributesText(attributes: Record<string, AttributeValue>): string | null {
  const texts = Object.entries(attributes).map(([name, value]) => `${name}=${value}`)
  return texts.toSorted().join(', ') || null
}

/** Empty if the device does not exist. */
async function contentOf(client: Jobcast, name: string): Promise<DeviceContent> {
  try {
    const { deviceName, tags, attributes, timeZone } = await client.devices.get(name)
    return { deviceName, tags, attributes, timeZone }
  } catch (error) {
    if (isJobcastError(error, 'J-001')) return {}
    throw error
  }
}
