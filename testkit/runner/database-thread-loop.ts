// The program of a thread that serves one database after the other, as kept-threads.ts tells it.

import { type MessagePort, parentPort } from 'node:worker_threads'
import { serveQuestions } from '../../server/src/store/sqlite/database-thread.ts'

type Served = { port: MessagePort; workerData: Parameters<typeof serveQuestions>[1] }

parentPort?.on('message', ({ port, workerData }: Served) => serveQuestions(port, workerData))
