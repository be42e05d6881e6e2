// What is spoken without a schema. For threads that check nothing: to load the schemas takes 0.15 s of CPU.

export * from './device-message.ts'
export * from './event-type.ts'
export * from './exec-state.ts'
export * from './instant.ts'
