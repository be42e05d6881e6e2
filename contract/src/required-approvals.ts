// The number of approvals that a run needs. This file imports no schemas.

/** The maximum for one run. */
export const maxApprovals = 10

/** `true` means one. */
export type ApprovalAsked = boolean | { required: number }

/** 0: none. */
export function requiredApprovals(approval: ApprovalAsked | null | undefined): number {
  return typeof approval === 'object' && approval !== null ? approval.required : Number(approval ?? false)
}

/** Returns the shortest form. */
export function toApproval(required: number): ApprovalAsked {
  return required > 1 ? { required } : required === 1
}
