// The parts without schemas, for threads that validate nothing: loading the schemas takes 0.15 s of CPU.

export * from './device-message.ts'
export * from './event-type.ts'
export * from './exec-state.ts'
export * from './instant.ts'
export * from './percent.ts'
export * from './priority.ts'
export * from './required-approvals.ts'
export * from './who-in-words.ts'
