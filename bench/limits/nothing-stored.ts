// Limit: the same route, checks and answer, and nothing stored. What is missing to it is the price of durability.

import { serveTriggers } from '../trigger-app.ts'

await serveTriggers()
