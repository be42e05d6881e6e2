// A process that runs commands of `jobcast`, as bin/jobcast passes them on. The program is loaded once, not for each of
// the 100 commands of the pages; that took most of their time.
//
// A command has several connections: `call` carries arguments and environment, and gets the exit code; `stdout` and
// `stderr`, or `output` for both, get what is printed. The shell sends fields on each, separated by NUL: the kind, the id
// of its process, and on `call` the rest; then a mark.

import { EventEmitter } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import { run } from '../../cli/src/run.ts'

type Part = { kind: string; shell: string; fields: string[]; socket: Socket }

const endMark = '\u0004'
/** Of commands of which not all connections are open yet, by shell. */
const opening = new Map<string, Part[]>()
const running = new Set<Promise<void>>()

const server = createServer(async (socket) => {
  // The shell may be gone; then nobody reads.
  socket.on('error', () => undefined)
  const part = await readPart(socket)
  const parts = [...(opening.get(part.shell) ?? []), part]
  opening.set(part.shell, parts)
  const socketOf = (kind: string) => parts.find((each) => each.kind === kind)?.socket
  const call = parts.find(({ kind }) => kind === 'call')
  const stdout = socketOf('output') ?? socketOf('stdout')
  const stderr = socketOf('output') ?? socketOf('stderr')
  if (!call || !stdout || !stderr) return
  opening.delete(part.shell)
  const done = runCall(call, stdout, stderr).finally(() => running.delete(done))
  running.add(done)
})

server.listen(0, '127.0.0.1', () => {
  process.on('message', async (folder: string) => {
    await Promise.all(running)
    process.chdir(folder)
    process.send?.((server.address() as AddressInfo).port)
  })
})
process.on('disconnect', () => process.exit())

function readPart(socket: Socket): Promise<Part> {
  const { promise, resolve } = Promise.withResolvers<Part>()
  let text = ''
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    if (!text.endsWith(endMark)) return
    const [kind = '', shell = '', ...fields] = text.slice(0, -endMark.length).split('\0')
    resolve({ kind, shell, fields, socket })
  })
  return promise
}

async function runCall({ fields, socket }: Part, stdout: Socket, stderr: Socket): Promise<void> {
  const signals = new EventEmitter()
  socket.on('close', () => signals.emit('SIGTERM', 'SIGTERM'))
  const { argv, env } = readCall(fields)
  const code = await run(argv, { stdin: Readable.from([]), stdout, stderr, env, signals }).catch(
    (error: Error) => {
      stderr.write(`${error.stack}\n`)
      return 1
    },
  )
  const outputs = [...new Set([stdout, stderr])]
  await Promise.all(outputs.map((output) => new Promise<void>((resolve) => output.end(resolve))))
  socket.end(`${code}\n`)
}

/** The number of arguments, the arguments, then the environment as `NAME=value`. */
function readCall([count, ...fields]: string[]): { argv: string[]; env: Record<string, string> } {
  const environment = fields.slice(Number(count)).map((field) => {
    const at = field.indexOf('=')
    return [field.slice(0, at), field.slice(at + 1)]
  })
  return { argv: fields.slice(0, Number(count)), env: Object.fromEntries(environment) }
}
