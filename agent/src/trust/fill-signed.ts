// From the document that an author has signed to the one that this device runs.

import type { SignedJob } from '@jobcast/contract/signature'
import { Refused } from '../document-fields.ts'
import type { Offered } from '../offered.ts'

export type Filled = { document: unknown }

export type FillDeps = { deviceId: string; attributes: () => Record<string, unknown> }

/** Throws Refused. */
export function fillSigned(signed: SignedJob, _offered: Offered, _deps: FillDeps): Filled {
  if (signed.parameters || JSON.stringify(signed.document).includes('${')) throw new Refused('placeholders')
  return { document: signed.document }
}
