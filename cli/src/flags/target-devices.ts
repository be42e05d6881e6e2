// The devices of a trigger: by id, by tag, from a file. The selections add up.

import type { Jobcast } from '@jobcast/client'
import { Option } from 'commander'
import type { OwnerContext } from '../define/owner-command.ts'
import { NothingFound, UsageError } from '../errors/usage-error.ts'
import { readText } from '../input/read-content.ts'
import { maxPageSize } from '../service/take-items.ts'

export type TargetFlags = {
  device?: string[]
  tag?: string[]
  online?: boolean
  devicesFile?: string
  where?: string
  group?: string
}

/** Not variadic: `--device a b JOB` would treat the job as a device. Not comma-separated: ids may contain commas. */
export function repeatable<T = string>(
  flag: string,
  text: string,
  parse = (value: string) => value as T,
): Option {
  return new Option(flag, text).argParser((value: string, before: T[] = []) => [...before, parse(value)])
}

export function targetOptions(): Option[] {
  return [
    repeatable('-d, --device <id>', 'trigger on this device; can be repeated'),
    repeatable('-t, --tag <tag>', 'trigger on all devices with this tag; if repeated, with all of the tags'),
    new Option(
      '--where <selector>',
      'trigger on all devices that match, for example "tag=kiosk and fw<2.4.0"',
    ),
    new Option('--group <name>', 'trigger on all devices of this group'),
    new Option('--online', 'only the tagged devices that are online'),
    new Option(
      '--devices-file <file>',
      'read device ids from a file, one per line; # starts a comment, - is standard input',
    ),
  ]
}

/** A selector or a group, which the service evaluates; undefined if neither is given. */
export function selectedTargets(flags: TargetFlags): { where: string } | { group: string } | undefined {
  const { where, group, device, tag, devicesFile, online } = flags
  if (where === undefined && group === undefined) return undefined
  const others = [device, tag, devicesFile, online].some((each) => each !== undefined)
  if (others || (where !== undefined && group !== undefined)) {
    throw new UsageError('--where and --group cannot be combined with each other or with other devices')
  }
  return where === undefined ? { group: group ?? '' } : { where }
}

export async function targetDevices({ client, io }: OwnerContext, flags: TargetFlags): Promise<string[]> {
  const { device = [], tag = [], online, devicesFile } = flags
  if (device.length === 0 && tag.length === 0 && devicesFile === undefined)
    throw new UsageError('no devices given; use --device, --tag, --where, --group or --devices-file')
  if (online && tag.length === 0) throw new UsageError('--online requires --tag')
  const listed = devicesFile === undefined ? [] : parseDevices(await readText(io, devicesFile))
  const deviceIds = [...new Set([...device, ...listed, ...(await devicesWithTags(client, tag, online))])]
  if (deviceIds.length === 0) throw new NothingFound(`No device found ${inWords(flags)}.`)
  return deviceIds
}

async function devicesWithTags(client: Jobcast, tags: string[], online?: boolean): Promise<string[]> {
  const [first, ...others] = tags
  if (first === undefined) return []
  const found: string[] = []
  // The service filters by one tag; the others are checked here.
  for await (const device of client.devices.list({
    tag: first,
    online: online || undefined,
    limit: maxPageSize,
  })) {
    if (others.every((tag) => device.tags.includes(tag))) found.push(device.deviceId)
  }
  return found
}

/** A deviceId contains no #, so a comment may follow it. */
function parseDevices(text: string): string[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

function inWords({ tag = [], online, devicesFile }: TargetFlags): string {
  const tags = `with ${tag.length === 1 ? 'tag' : 'all of the tags'} ${tag.map((each) => `"${each}"`).join(', ')}`
  const ways = [
    ...(tag.length > 0 ? [`${tags}${online ? ' and online' : ''}`] : []),
    ...(devicesFile === undefined ? [] : [`in ${devicesFile === '-' ? 'standard input' : devicesFile}`]),
  ]
  return ways.join(' or ')
}
