// The short form of the import drill.
import { bulkImport } from "./bulk/import.ts";
import { holds } from "./hold.ts";

holds(bulkImport, ["ING-06"]);
