// The program of a thread that serves one database after the other; kept-threads.ts sends them.

import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type MessagePort, parentPort } from 'node:worker_threads'
import type { serveQuestions } from '../../server/src/store/sqlite/database-thread.ts'

type Served = { port: MessagePort; workerData: Parameters<typeof serveQuestions>[1] }

const built = join(dirname(process.env.JOBCAST_TEST_PROGRAM ?? ''), '../dist/database-thread.js')
const thread: { serveQuestions: typeof serveQuestions } = await import(pathToFileURL(built).href)

parentPort?.on('message', ({ port, workerData }: Served) => thread.serveQuestions(port, workerData))
