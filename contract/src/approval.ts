// Approvals that a run needs before it is released, and the decisions.

import Type, { type Static } from 'typebox'
import { type ApprovalAsked, maxApprovals } from './required-approvals.ts'
import { Instant, keyNameOf, mustBe, orNull } from './text.ts'

export type Approval = ApprovalAsked

export const Approval = Type.Unsafe<Approval>({
  anyOf: [
    { type: 'boolean' },
    {
      type: 'object',
      properties: { required: { type: 'integer', minimum: 1, maximum: maxApprovals } },
      required: ['required'],
      additionalProperties: false,
    },
  ],
  [mustBe]: `true, false or {"required": n} with n from 1 to ${maxApprovals}`,
})

export const approvalOf = (description: string) => Type.Unsafe<Approval>({ ...Approval, description })

export const decisions = ['APPROVED', 'DENIED'] as const
export type Decision = (typeof decisions)[number]

export const ApprovalDecision = Type.Object(
  {
    principal: Type.String({
      description: 'Who decided: `key:<keyId>`, or `user:<subject>` for a person',
      examples: ['key:3f9aZ0qLxw'],
    }),
    name: keyNameOf('principal'),
    at: Instant,
    decision: Type.Unsafe<Decision>({ type: 'string', enum: [...decisions] }),
    comment: orNull(Type.String()),
  },
  { title: 'ApprovalDecision' },
)
export type ApprovalDecision = Static<typeof ApprovalDecision>

/** Why a caller cannot decide, in the order of the checks. */
export const approvalBlocks = ['SCOPE', 'INVOLVED', 'DECIDED'] as const
export type ApprovalBlock = (typeof approvalBlocks)[number]

/** The pending approval of a run. */
export const AwaitedApproval = Type.Object(
  {
    required: Type.Integer({ description: 'How many approvals it needs now' }),
    given: Type.Integer({
      description: 'How many approvals it has; a change of the run voids earlier ones',
    }),
    digest: Type.String({
      description:
        'Of what is approved: job version, document, parameters, targets in order, rollout and window',
    }),
    blockedBecause: orNull(Type.Unsafe<ApprovalBlock>({ type: 'string', enum: [...approvalBlocks] }), {
      description:
        'Why you cannot approve or deny it; null if you can. SCOPE: your key lacks APPROVE; INVOLVED: you have created, ' +
        'changed or fired the run, or changed what it depends on; DECIDED: your approval already counts',
    }),
  },
  { title: 'AwaitedApproval' },
)
export type AwaitedApproval = Static<typeof AwaitedApproval>
