// Limit: the same route, checks and answer, and nothing stored. The difference is the price of durability.

import { serveTriggers } from '../trigger-app.ts'

await serveTriggers()
