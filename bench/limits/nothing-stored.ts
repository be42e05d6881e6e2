// Limit: the same route, checks and response, but nothing is stored. The difference is the price of durability.

import { serveTriggers } from '../trigger-app.ts'

await serveTriggers()
