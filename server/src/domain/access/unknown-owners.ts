// Owners named in settings that do not exist: a mistake, or they are created later.

import type { Store } from '../common/ports/store.ts'
import type { ExchangeDeps } from './exchange-token.ts'
import { findNamed } from './person-session.ts'

type Named = { setting: 'oidc-roles' | 'oidc-trust'; owner: string }
type UnknownOwnersDeps = Pick<ExchangeDeps, 'trust' | 'people'> & {
  store: Pick<Store, 'findOwner' | 'findOwnerByName'>
}

/** Each owner once per setting. */
export async function findUnknownOwners({ store, trust, people }: UnknownOwnersDeps): Promise<Named[]> {
  const ofRoles = Array.from(people?.groupRoles.values() ?? []).flat()
  const named = { 'oidc-roles': ofRoles, 'oidc-trust': trust }
  const unknown: Named[] = []
  for (const setting of ['oidc-roles', 'oidc-trust'] as const)
    for (const owner of new Set(named[setting].map((each) => each.owner)))
      if ((await findNamed(store, owner)) === undefined) unknown.push({ setting, owner })
  return unknown
}
