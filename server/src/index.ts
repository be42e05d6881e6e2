export { readAdminKey } from './admin-key.ts'
export {
  type Config,
  ConfigError,
  loadConfig,
  loadPlace,
  readSecretsKeys,
} from './config.ts'
export { StorageUnavailable } from './domain/ports/storage-errors.ts'
export { noQuotas } from './domain/quotas.ts'
export { newSecretText } from './domain/secret-text.ts'
export { eventMessageId, signWebhook } from './domain/sign-webhook.ts'
export { resetAdminKey } from './reset-admin-key.ts'
export { rotateSecrets } from './rotate-secrets.ts'
export { newSecretsKey } from './secrets-key.ts'
export { type RunningServer, type StartOptions, startServer } from './server.ts'
export { envName, type SettingName, settings } from './settings.ts'
export { DatabaseMissing, type SchemaChange, StartRefused } from './store/migrate.ts'
export {
  checkSchema,
  describePlace,
  examineDatabase,
  exportStore,
  importStore,
  migrateStore,
  openStore,
  requireDatabase,
  type StorePlace,
} from './store/open-store.ts'
export { type Counts, TransferRefused } from './store/transfer/transfer.ts'
