// On which devices: named one by one, by tags, from a file. What is named in several ways adds up.

import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type { Jobcast } from '@jobcast/client'
import { Option } from 'commander'
import type { OwnerContext } from '../define/owner-command.ts'
import { NothingFound, UsageError } from '../errors/usage-error.ts'
import type { Io } from '../io.ts'
import { mostOfPage } from '../service/take-items.ts'

export type TargetFlags = { device?: string[]; tag?: string[]; online?: boolean; devicesFile?: string }

/** Not variadic: `--device a b JOB` would take the job for a device. No list with commas: ids may have some. */
export function repeatable(flag: string, text: string): Option {
  return new Option(flag, text).argParser((value: string, before: string[] = []) => [...before, value])
}

export function targetOptions(): Option[] {
  return [
    repeatable('-d, --device <id>', 'this device; can be repeated'),
    repeatable('-t, --tag <tag>', 'all devices with the tag; repeated: with all of the tags'),
    new Option('--online', 'of the devices with the tags only those that are online'),
    new Option('--devices-file <file>', 'one deviceId a line, # begins a comment; - is standard input'),
  ]
}

export async function targetDevices({ client, io }: OwnerContext, flags: TargetFlags): Promise<string[]> {
  const { device = [], tag = [], online, devicesFile } = flags
  if (device.length === 0 && tag.length === 0 && devicesFile === undefined)
    throw new UsageError('on which devices? Give --device, --tag or --devices-file')
  if (online && tag.length === 0) throw new UsageError('--online goes with --tag')
  const listed = devicesFile === undefined ? [] : await readDevicesFile(io, devicesFile)
  const deviceIds = [...new Set([...device, ...listed, ...(await devicesWithTags(client, tag, online))])]
  if (deviceIds.length === 0) throw new NothingFound(`There is no device ${inWords(flags)}.`)
  return deviceIds
}

async function devicesWithTags(client: Jobcast, tags: string[], online?: boolean): Promise<string[]> {
  const [first, ...others] = tags
  if (first === undefined) return []
  const found: string[] = []
  // The service knows one tag as a filter; the others are looked for here.
  for await (const device of client.devices.list({
    tag: first,
    online: online || undefined,
    limit: mostOfPage,
  })) {
    if (others.every((tag) => device.tags.includes(tag))) found.push(device.deviceId)
  }
  return found
}

async function readDevicesFile({ stdin }: Io, file: string): Promise<string[]> {
  try {
    return parseDevices(file === '-' ? await text(stdin) : readFileSync(file, 'utf8'))
  } catch (error) {
    throw new UsageError(`--devices-file cannot be read: ${(error as Error).message}`)
  }
}

/** A deviceId has no # in it, so a comment may stand behind one. */
export function parseDevices(text: string): string[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r?\n/)
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')
}

function inWords({ tag = [], online, devicesFile }: TargetFlags): string {
  const tags = `with ${tag.length === 1 ? 'the tag' : 'all of the tags'} ${tag.map((each) => `"${each}"`).join(', ')}`
  const ways = [
    ...(tag.length > 0 ? [`${tags}${online ? ' that is online' : ''}`] : []),
    ...(devicesFile === undefined ? [] : [`in ${devicesFile === '-' ? 'standard input' : devicesFile}`]),
  ]
  return ways.join(' or ')
}
