// Debian's swupdate with its suricatta client, and update files for it.

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { endWithProcess } from './end-with-process.ts'
import { type Ending, newTemporaryFolder, removeAfter } from './temporary-folder.ts'

/** For the `skip` of a test: false if swupdate is installed. */
export const withoutSwupdate: string | false =
  spawnSync('swupdate', ['--version']).error === undefined
    ? false
    : 'swupdate is not installed (Debian: apt-get install swupdate)'

type Swupdate = {
  /** The output so far. */
  printed(): string
  stop(): Promise<void>
}

type SwupdateOptions = {
  http: string
  deviceId: string
  token: string
  signer: Signer
  /** Arguments of suricatta: `-c 2` confirms an update after a reboot. */
  more?: string[]
}

/** Its sockets are in a separate folder, so that several can run at once. It never reboots and uses no boot loader. */
export function startSwupdate(
  t: Ending,
  { http, deviceId, token, signer, more = [] }: SwupdateOptions,
): Swupdate {
  const folder = newTemporaryFolder()
  const suricatta = ['-t', 'DEFAULT', '-u', http, '-i', deviceId, '-k', token, ...more]
  const sockets = join(folder, 'sockets')
  mkdirSync(sockets)
  const child = spawn(
    'swupdate',
    ['-l', '4', '-m', '-M', '-H', 'board:1.0', '-k', signer.certificate, '-u', suricatta.join(' ')],
    {
      cwd: folder,
      env: { ...process.env, TMPDIR: folder, RUNTIME_DIRECTORY: sockets },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    },
  )
  endWithProcess(child)
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (data: Buffer) => {
      printed += data
    })
  }
  const stop = () => endGroup(child)
  t.after(stop)
  removeAfter(t, folder)
  return { printed: () => printed, stop }
}

/** Its installer and its client are separate processes. */
async function endGroup(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const exited = once(child, 'exit')
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    child.kill('SIGKILL')
  }
  await exited
}

/** The signer of updates: Debian's swupdate accepts only signed ones. */
type Signer = { certificate: string; key: string }

export function newSigner(t: Ending): Signer {
  const folder = newTemporaryFolder()
  removeAfter(t, folder)
  const [certificate, key] = [join(folder, 'signer.pem'), join(folder, 'signer.key')]
  const subject = ['-subj', '/CN=signer', '-addext', 'extendedKeyUsage=emailProtection']
  openssl('req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject, '-keyout', key, '-out', certificate)
  return { certificate, key }
}

/** An update that writes a file: a cpio archive that starts with a signed description. */
export function buildSwu(signer: Signer, version: string, content: string, path: string): Buffer {
  const sha256 = createHash('sha256').update(content).digest('hex')
  const file = `filename = "payload"; path = "${path}"; sha256 = "${sha256}";`
  const description = `software = { version = "${version}"; hardware-compatibility: ["1.0"]; files: ({ ${file} }); }\n`
  const signing = ['-signer', signer.certificate, '-inkey', signer.key, '-outform', 'DER']
  const given = { input: description }
  const signature = openssl('cms', '-sign', '-nosmimecap', '-binary', ...signing, given)
  return cpio({ 'sw-description': description, 'sw-description.sig': signature, payload: content })
}

function openssl(...given: (string | { input: string })[]): Buffer {
  const args = given.filter((each) => typeof each === 'string')
  const input = given.find((each) => typeof each !== 'string')
  const { stdout, stderr, status } = spawnSync('openssl', args, { ...input, stdio: 'pipe' })
  if (status !== 0) throw new Error(`openssl ${args[0]}: ${stderr}`)
  return stdout
}

/** In the format that `cpio -H crc` writes. */
function cpio(files: Record<string, string | Buffer>): Buffer {
  const entries = Object.entries(files).map(([name, data], index) =>
    entry(name, Buffer.from(data as string), index + 1),
  )
  return Buffer.concat([...entries, entry('TRAILER!!!', Buffer.alloc(0), 0)])
}

function entry(name: string, data: Buffer, ino: number): Buffer {
  const sum = data.reduce((all, byte) => (all + byte) >>> 0, 0)
  const isFile = ino > 0
  const fields = [ino, isFile ? 0o100644 : 0, 0, 0, 1, 0, data.length, 0, 0, 0, 0, name.length + 1, sum]
  const head = `070702${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}${name}\0`
  return Buffer.concat([padded(Buffer.from(head)), padded(data)])
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)])
}
