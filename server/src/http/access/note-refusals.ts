// Records calls that were refused for a missing scope or a restriction in the audit log.

import type { Refusals } from '../../state/refusals.ts'
import type { App } from '../app-type.ts'

export function noteRefusals(app: App, refusals: Pick<Refusals, 'note'>): void {
  app.addHook('onResponse', (request, _reply, done) => {
    const { caller, errorCode, method, route } = request
    if ((errorCode === 'J-804' || errorCode === 'J-814') && caller)
      refusals.note(caller, `${method} ${route.url ?? ''}`)
    done()
  })
}
