// An attacker who controls the server: changes its stored data, and its HTTP responses to devices.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { OpenServer } from '@jobcast/testkit/open-server'

// biome-ignore lint/suspicious/noExplicitAny: it changes any field
export type Anything = any

type Attacker = {
  /** The address of the server for devices. */
  http: string
  /** Changes each execution that is sent from now on; undefined: none. */
  tamper: ((execution: Anything) => void) | undefined
  /** Errors during tampering. */
  problems: unknown[]
  close(): void
}

/** The responses of the server pass through it. */
export async function openAttacker(server: OpenServer): Promise<Attacker> {
  const attacker: Attacker = {
    http: '',
    tamper: undefined,
    problems: [],
    close: () => proxy.close(),
  }
  const proxy = createServer((request, response) => {
    forward(request, response).catch((error) => {
      attacker.problems.push(error)
      response.destroy()
    })
  })
  const forward = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const { host: _, 'content-length': __, connection: ___, ...headers } = request.headers
    const answer = await fetch(server.http + request.url, {
      method: request.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    }).catch(() => undefined)
    if (answer === undefined) {
      response.destroy()
      return
    }
    const text = await answer.text()
    const json: Anything = text.startsWith('{') ? JSON.parse(text) : {}
    if (json.execution) attacker.tamper?.(json.execution)
    const type = answer.headers.get('x-amzn-errortype')
    response.writeHead(answer.status, { ...(type && { 'x-amzn-errortype': type }) })
    response.end(json.execution ? JSON.stringify(json) : text)
  }
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  attacker.http = `http://127.0.0.1:${(proxy.address() as { port: number }).port}`
  return attacker
}

/** Changes the content of the current version of a job in the database, while the server is running. */
export function changeStored(server: OpenServer, jobName: string, change: (content: Anything) => void): void {
  const db = new DatabaseSync(join(server.folder, 'jobcast.db'))
  try {
    db.exec('PRAGMA busy_timeout = 5000')
    const found = db
      .prepare(
        `SELECT job_version.version_no AS no, json(content) AS content FROM job JOIN job_version USING (version_no)
         WHERE job_name = ?`,
      )
      .get(jobName) as { no: number; content: string }
    const content = JSON.parse(found.content)
    change(content)
    const update = db.prepare('UPDATE job_version SET content = ? WHERE version_no = ?')
    update.run(JSON.stringify(content), found.no)
  } finally {
    db.close()
  }
}
