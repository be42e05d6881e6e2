export { loadBridge } from './config/bridge-settings.ts'
export { loadBucket } from './config/bucket-settings.ts'
export { sendsPasswordInClear } from './config/check-bridge.ts'
export {
  type Config,
  loadConfig,
  loadPlace,
  readSecretsKeys,
} from './config/config.ts'
export { ConfigError } from './config/config-error.ts'
export { namedNumbers, numberMeant, spelledOutNames } from './config/named-numbers.ts'
export { envName, type SettingName, settings } from './config/settings.ts'
export { noQuotas } from './domain/access/quotas.ts'
export { newSecretText } from './domain/access/secret-text.ts'
export { StorageUnavailable } from './domain/common/ports/storage-errors.ts'
export { eventMessageId, signWebhook } from './domain/webhook/sign-webhook.ts'
export type { BridgeSettings } from './gateway/bridge/bridge-settings.ts'
export { examineBroker, type Impersonation } from './gateway/bridge/examine-broker.ts'
export { readAdminKey } from './secrets/admin-key.ts'
export { resetAdminKey } from './secrets/reset-admin-key.ts'
export { rotateSecrets } from './secrets/rotate-secrets.ts'
export { newSecretsKey } from './secrets/secrets-key.ts'
export { type RunningServer, startServer } from './server.ts'
export type { StartOptions } from './start/start.ts'
export { describeBucket } from './store/files/bucket-settings.ts'
export { examineBucket, examineDirect } from './store/files/examine-bucket.ts'
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
