// records.admin.v1.InstanceService: the settings that an operator changes on one running instance.
import type { Logger } from "pino";
import type { LogLevel } from "../config/config.ts";
import type { InstanceService as Descriptor } from "../gen/records/admin/v1/instance_pb.ts";
import type { OperatorService } from "../rpc/routes.ts";
import { requireAllRead } from "../rpc/routes.ts";
import { setLogLevel } from "./log-level.ts";

/** Creates the service over the log of this instance. `configured` is the log level of the settings. */
export function createInstanceService(log: Logger, configured: LogLevel): OperatorService<typeof Descriptor> {
  return {
    getLogLevel(request) {
      requireAllRead(request);
      return Promise.resolve({ $typeName: "records.admin.v1.GetLogLevelResponse", level: log.level, configured });
    },
    setLogLevel({ level, ...rest }, { caller: { requestId: id, address, token } }) {
      requireAllRead(rest);
      const before = setLogLevel(log, level as LogLevel, { id, address, service_token: token });
      return Promise.resolve({ $typeName: "records.admin.v1.SetLogLevelResponse", level, before });
    },
  };
}
