// One event stream for all tabs of a browser: with HTTP/1.1 a browser has six connections to a server, and a stream occupies
// one permanently. Visible tabs join the stream, and it is closed when there are none.

import { type Connection, followEvents, type StreamUpdate } from './follow-events.ts'

export type TabMessage = { kind: 'join'; keyId: string } | { kind: 'leave' }

const tabs = new Set<MessagePort>()
let stream: { keyId: string; life: AbortController; connection: Connection } | undefined

globalThis.addEventListener('connect', (event) => {
  const [port] = (event as MessageEvent).ports
  if (!port) return
  port.onmessage = ({ data }: MessageEvent<TabMessage>) => {
    if (data.kind === 'join') join(port, data.keyId)
    else leave(port)
  }
})

function join(port: MessagePort, keyId: string): void {
  tabs.add(port)
  // Another key has signed in, which has other events.
  if (stream && stream.keyId !== keyId) close()
  if (stream) port.postMessage({ kind: 'connection', connection: stream.connection } satisfies StreamUpdate)
  else open(keyId)
}

function leave(port: MessagePort): void {
  tabs.delete(port)
  if (tabs.size === 0) close()
}

function open(keyId: string): void {
  const opened = { keyId, life: new AbortController(), connection: 'connecting' as Connection }
  stream = opened
  void followEvents(opened.life.signal, (update) => {
    if (stream !== opened) return
    if (update.kind === 'connection') opened.connection = update.connection
    if (update.kind === 'refused') close()
    for (const port of tabs) port.postMessage(update)
  })
}

function close(): void {
  stream?.life.abort()
  stream = undefined
}
