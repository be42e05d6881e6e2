// Limit: the same route, checks and answer, and nothing stored. The difference is the price of durability. With the word
// `fastify`: as every other route is served, without the shortcuts of plain triggers.

import { serveTriggers } from '../trigger-app.ts'

await serveTriggers(undefined, { isPlain: process.argv[2] !== 'fastify' })
