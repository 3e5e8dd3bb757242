// Table of the rpcs of each wire, with their implementations.
import type { DescMethodUnary } from "@bufbuild/protobuf";
import { createAccountService } from "../accounts/service.ts";
import { AccountService } from "../gen/records/admin/v1/accounts_pb.ts";
import { BackupService } from "../gen/records/admin/v1/backup_pb.ts";
import { InstanceService } from "../gen/records/admin/v1/instance_pb.ts";
import { InterfaceService } from "../gen/records/admin/v1/interface_pb.ts";
import { IngestService } from "../gen/records/ingest/v1/ingest_pb.ts";
import { ApiKeyService } from "../gen/records/v1/api_keys_pb.ts";
import { AuditService } from "../gen/records/v1/audit_pb.ts";
import { ContactService } from "../gen/records/v1/contacts_pb.ts";
import { HealthService } from "../gen/records/v1/health_pb.ts";
import { NoteService } from "../gen/records/v1/notes_pb.ts";
import { SessionService } from "../gen/records/v1/sessions_pb.ts";
import type { Handler } from "../guards/chain.ts";
import { createHealthService } from "../health/service.ts";
import { createInstanceService } from "../instance/service.ts";
import { route } from "../rpc/routes.ts";
import { createInterfaceService, switchName } from "../switches/service.ts";
import type { Foundation } from "./foundation.ts";
import type { Storage } from "./storage.ts";

/** The rpcs by the wires and the listener that serve them. */
export type Rpcs = ReturnType<typeof createRpcs>;

export function createRpcs({ config, log }: Foundation, { services, switches, redis, mongodb }: Storage) {
  const open = new Map<DescMethodUnary, Handler>();
  const health = {
    reachable: () => mongodb.isUp() && (redis === undefined || redis.ready()),
    enabled: () => switches.state().publicInterface,
  };
  route(open, HealthService, createHealthService(health));
  route(open, ContactService, services.contacts);
  route(open, SessionService, services.sessions);
  route(open, NoteService, services.notes);

  const rest = new Map(open);
  route(rest, ApiKeyService, services.apiKeyService);
  route(rest, AuditService, services.auditLog);

  const internal = new Map(open);
  route(
    internal,
    AccountService,
    createAccountService(services.accounts, services.erasures, services.operatorActions, (account) =>
      log.error({ account }, "the document of an account cannot be read: restore or delete the account"),
    ),
  );
  const interfaceService = createInterfaceService({
    switches: services.switches,
    refresh: switches.refresh,
    onChange: (setting, { requestId: id, address, token }) =>
      log.warn({ id, ...setting, switch: switchName(setting.switch), address, token }, "switched"),
    onUnreadable: (count) => log.error({ count }, "changes of the switches cannot be read: lists leave them out"),
  });
  route(internal, InterfaceService, interfaceService);
  route(internal, InstanceService, createInstanceService(log, config.logLevel));
  route(internal, BackupService, services.backup);
  route(internal, IngestService, services.ingest);
  return {
    /** The rpcs over Connect, gRPC and MCP. */
    open,
    /** The rpcs over REST, including those that only signed-in users may call. */
    rest,
    /** The rpcs on the internal listener. */
    internal,
    /** The facts from which health is derived. */
    health,
  };
}
