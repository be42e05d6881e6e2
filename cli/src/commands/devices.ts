// jobcast devices: devices and their tokens.

import type { Device, DeviceContent } from '@jobcast/client'
import { type Command, Option } from 'commander'
import { groupCommand } from '../define/group-command.ts'
import { ownerCommand, withClient } from '../define/owner-command.ts'
import { removeCommand } from '../define/remove-command.ts'
import { resourceCommands } from '../define/resource-commands.ts'
import { type AttributeValue, parseAttribute } from '../flags/attribute.ts'
import { collect } from '../flags/collect.ts'
import { repeatable } from '../flags/target-devices.ts'
import { localTime } from '../output/local-time.ts'
import { whoWithId } from '../output/maker-text.ts'
import { changeDevicesCommand } from './devices-change.ts'
import { countCommand, importDevicesCommand } from './devices-select.ts'

type ListFlags = { tag?: string; where?: string; online?: true; offline?: true }
type PutFlags = {
  name?: string
  tag?: string[]
  clearTags?: true
  attribute?: [string, AttributeValue][]
  clearAttributes?: true
  timeZone?: string
  /** False removes the window. */
  window?: string | false
}

const devices = resourceCommands('devices')

export function devicesCommand(): Command {
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
    devices.get((device) => ({ fields: fieldsOf(device) })),
    putCommand(),
    changeDevicesCommand(),
    importDevicesCommand(),
    tokenCommand(),
    revoke.description('Revoke the tokens of devices. They cannot connect until they get a new one.'),
    allowCertificateCommand(),
    devices.rm('Its unfinished executions are canceled.'),
  ).addHelpText(
    'after',
    '\nExamples:\n  jobcast devices --tag berlin --offline\n  TOKEN=$(jobcast devices token kiosk-1)\n',
  )
}

function lsCommand(): Command {
  return devices
    .ls<ListFlags>(
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
      ({ tag, where, online, offline }) => ({ tag, where, online: online ?? (offline && false) }),
    )
    .option('--tag <tag>', 'only devices with this tag')
    .option('--where <selector>', 'only devices that match, for example "site=berlin and fw<2.4.0"')
    .addOption(new Option('--online', 'only devices that are online').conflicts('offline'))
    .option('--offline', 'only devices that are offline')
}

function fieldsOf(device: Device) {
  const { deviceId, deviceName, tags, online, transport } = device
  return {
    device: deviceId,
    name: deviceName,
    tags: tags.join(', ') || null,
    attributes: attributesText(device.attributes),
    reported: attributesText(device.reportedAttributes),
    'time zone': device.timeZone,
    window: device.window,
    state: online ? 'online' : 'offline',
    since: localTime(device.since),
    'last seen': localTime(device.lastSeenAt),
    transport,
    'token created': localTime(device.credentialCreatedAt),
    'token created by': whoWithId(device.credentialCreatedBy, device.credentialCreatedByName),
    'certificate revoked': localTime(device.certificateRevokedAt),
    created: localTime(device.createdAt),
    updated: localTime(device.updatedAt),
  }
}

function putCommand(): Command {
  return devices
    .put()
    .option('--name <text>', 'display name (default: the deviceId)')
    .option('--tag <tag>', 'tag; can be repeated, and replaces all existing tags', collect)
    .addOption(new Option('--clear-tags', 'remove all tags').conflicts('tag'))
    .addOption(repeatable('--attribute <name=value>', 'set an attribute; can be repeated', parseAttribute))
    .option('--clear-attributes', 'remove all attributes that --attribute does not set')
    .option('--time-zone <name>', 'IANA time zone of the device, for example Europe/Berlin')
    .option('--window <name>', 'offer work to the device only while this window is open')
    .option('--no-window', 'remove the window of the device')
    .addHelpText('after', '\nFields without a flag keep their value.\n')
    .action(
      withClient(async (context, name: string, flags: PutFlags) => {
        const base = await devices.contentOf(context.client, name)
        // The type lists every field of a device, so that none is missed here.
        const content: Record<keyof DeviceContent, unknown> = {
          deviceName: flags.name ?? base.deviceName,
          tags: flags.clearTags ? [] : (flags.tag ?? base.tags),
          attributes: {
            ...(flags.clearAttributes ? {} : base.attributes),
            ...Object.fromEntries(flags.attribute ?? []),
          },
          timeZone: flags.timeZone ?? base.timeZone,
          window: flags.window === false ? null : (flags.window ?? base.window),
        }
        await devices.save(context, name, content as DeviceContent)
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

function attributesText(attributes: Record<string, AttributeValue>): string | null {
  const texts = Object.entries(attributes).map(([name, value]) => `${name}=${value}`)
  return texts.toSorted().join(', ') || null
}
