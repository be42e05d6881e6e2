import { RequestBudget } from './request-budget.ts'

/**
 * Shared by what events and timers read again: fewer than two requests per second, also in ten seconds that begin with a burst.
 * A few consecutive changes are shown at once.
 */
export const readBudget = new RequestBudget({ perSecond: 1.2, burst: 5 })
