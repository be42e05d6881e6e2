// The parts without schemas, for threads that do not validate: loading the schemas takes 0.2 s of CPU.

export * from './device-message.ts'
export * from './errors.ts'
export * from './event-type.ts'
export * from './exec-state.ts'
export * from './instant.ts'
export * from './percent.ts'
export * from './priority.ts'
export * from './required-approvals.ts'
export * from './retry-version.ts'
export * from './rollout-state.ts'
export * from './who-in-words.ts'
