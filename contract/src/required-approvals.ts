// How many approvals a run needs, without schemas.

/** Of one run. */
export const maxApprovals = 10

/** `true` is one. */
export type ApprovalAsked = boolean | { required: number }

/** 0: none. */
export function requiredApprovals(approval: ApprovalAsked | null | undefined): number {
  return typeof approval === 'object' && approval !== null ? approval.required : Number(approval ?? false)
}

/** In the shortest way. */
export function toApproval(required: number): ApprovalAsked {
  return required > 1 ? { required } : required === 1
}
