import type { Run } from '@jobcast/client'

type Block = NonNullable<NonNullable<NonNullable<Run['rollout']>['approval']>['blockedBecause']>

const sentences: Record<Block, string> = {
  SCOPE: 'To approve or deny it, a key needs the APPROVE scope.',
  INVOLVED:
    'You have created, changed or fired it, or changed what it depends on; only somebody else can approve or deny it.',
  DECIDED: 'You have already approved it; other people must give the remaining approvals.',
}

/** Why this key cannot approve or deny the run; undefined if it can. */
export function whyNotApprove({ rollout }: Run): string | undefined {
  const block = rollout?.approval?.blockedBecause
  return block ? sentences[block] : undefined
}
