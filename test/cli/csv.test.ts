// CSV as address books write it: quotes, dates, columns of every known export, encodings.
import { create } from "@bufbuild/protobuf";
import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseMap } from "../../src/cli/formats/csv-columns.ts";
import { csvHeader, csvRow } from "../../src/cli/formats/csv-writer.ts";
import { readCsv } from "../../src/cli/formats/csv.ts";
import { linesOf } from "../../src/cli/formats/lines.ts";
import { ContactItemSchema } from "../../src/gen/records/ingest/v1/items_pb.ts";
import { timestampText } from "../../src/cli/timestamp-text.ts";
import { everyOf } from "../support/client.ts";
import { chunksOf, csv, held, said } from "./entries.ts";
import { inForm } from "../support/form.ts";

test("a quoted cell holds delimiters, quotes and line breaks; an error names the line where its row begins; a byte order mark is ignored", async () => {
  const content =
    '\ufefffull_name,email,notes\r\n"Lee, ""Ann""\r\nMüller",ann@example.com,a;b\r\n\r\n,,\r\nBo,,"x\n\ny"\r\nCy "the" 5" man,cy@example.com\r\n';
  expect(said(await csv(content))).toEqual([
    [2, { fullName: 'Lee, "Ann"\r\nMüller', email: "ann@example.com", notes: "a;b" }],
    [6, { fullName: "Bo", notes: "x\n\ny" }],
    [9, { fullName: 'Cy "the" 5" man', email: "cy@example.com" }],
  ]);
});

test("a quote that is never closed costs only the line that opens it", async () => {
  expect(said(await csv('full_name,email\nAnn,a@example.com\n"Bo,b@example.com\nCy,c@example.com\n'))).toEqual([
    [2, { fullName: "Ann", email: "a@example.com" }],
    [3, "the quote that opens in this line is never closed"],
    [4, { fullName: "Cy", email: "c@example.com" }],
  ]);
});

test("unbalanced quotes cost exactly the lines that a reading from each line on would lose", async () => {
  const piece = fc.constantFrom('"', '""', ",", "a", '","', "b ");
  const line = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(""));
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 12 }), async (lines) => {
      const entries = await csv(`full_name,email\n${lines.map((text) => `${text}\n`).join("")}`);
      expect(entries.filter((entry) => held(entry) === neverClosed).map((entry) => entry.line)).toEqual(
        unclosed(lines),
      );
    }),
    { numRuns: inForm(150, 500) },
  );
});

const neverClosed = "the quote that opens in this line is never closed";

/**
 * The numbers of lines that open a quote which no later line closes: each line in turn is tried as the first of a row.
 */
function unclosed(lines: readonly string[]): number[] {
  const bad: number[] = [];
  for (let first = 0; first < lines.length; ) {
    const end = lines.findIndex((_, at) => at >= first && !isOpen(lines.slice(first, at + 1).join("\n")));
    if (end === -1) bad.push(first + 2);
    first = end === -1 ? first + 1 : end + 1;
  }
  return bad;
}

/** Whether a quoted cell is open at the end of the text: a character at a time. */
function isOpen(text: string): boolean {
  let state: "start" | "plain" | "quoted" | "quote" = "start";
  for (const character of text) {
    if (state === "quoted") state = character === '"' ? "quote" : "quoted";
    else if (state === "quote" && character === '"') state = "quoted";
    else if (character === "," || character === "\n") state = "start";
    else state = state === "start" && character === '"' ? "quoted" : "plain";
  }
  return state === "quoted";
}

test("a date in CSV may omit its time, its seconds or its T, and must be in the calendar", async () => {
  const right = [
    "2026-01-31",
    "2026-01-31 09:30Z",
    "2026-01-31T09:30:00.1239+02:00",
    "2024-02-29T23:59:59-05:00",
    "2024-02-03 08:09:10 +0000",
    "2024-02-03 08:09:10 UTC",
    "2024-02-03 08:09:10.5+00",
  ];
  expect(
    (await csv(`name,created_at\n${right.map((date) => `Ann,${date}\n`).join("")}`)).map((entry) =>
      timestampText((held(entry) as { createdAt?: Timestamp }).createdAt),
    ),
  ).toEqual([
    "2026-01-31T00:00:00.000Z",
    "2026-01-31T09:30:00.000Z",
    "2026-01-31T07:30:00.123Z",
    "2024-03-01T04:59:59.000Z",
    "2024-02-03T08:09:10.000Z",
    "2024-02-03T08:09:10.000Z",
    "2024-02-03T08:09:10.500Z",
  ]);
  const wrong = ["2026-02-31", "2026-02-30T10:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T09:30:00", "31.01.2026"];
  const before = csvHeader.split("created_at", 1)[0]?.replace(/[a-z_]/g, "") ?? "";
  expect((await csv(`${csvHeader}${wrong.map((date) => `${before}${date}\n`).join("")}`)).map(held)).toEqual(
    wrong.map((date) => `created_at: must be a date-time such as 2026-01-31T09:30:00Z, not "${date}"`),
  );
});

test("reads the exports of Google, old and new, and of Outlook: joins the parts of names, and takes the first of several emails and phones", async () => {
  const google =
    "First Name,Middle Name,Last Name,Notes,Organization Name,E-mail 1 - Label,E-mail 1 - Value,E-mail 2 - Value,Phone 1 - Label,Phone 1 - Value\nAnn,B.,Öz,hi,Acme,* Work,a@example.com ::: b@example.com,c@example.com,Mobile,+49 1\n,,,,Acme,,,d@example.com,,\n";
  expect((await csv(google)).map(held)).toEqual([
    { fullName: "Ann B. Öz", email: "a@example.com", phone: "+49 1", notes: "hi" },
    { fullName: "Acme", email: "d@example.com" },
  ]);
  const older = "Name,Given Name,Family Name,E-mail 1 - Value,Phone 1 - Value\nAnn Öz,Ann,Öz,a@example.com,123\n";
  expect((await csv(older)).map(held)).toEqual([{ fullName: "Ann Öz", email: "a@example.com", phone: "123" }]);
  const outlook =
    "Title;First Name;Last Name;Suffix;E-mail Address;Mobile Phone;Business Phone\nMr.;Bo;Li;Jr.;bo@example.com;;+44 2\n";
  expect((await csv(outlook)).map(held)).toEqual([{ fullName: "Bo Li Jr.", email: "bo@example.com", phone: "+44 2" }]);
});

/**
 * Exports of programs: the name, email, phone, notes and id that are imported, and then each column with its value.
 */
const exported = `
Google in German: Ann B. Öz | a@example.com | +49 1 | hi
  Vorname=Ann | Zweiter Vorname=B. | Nachname=Öz | Notizen=hi | Name der Organisation=Acme |
  E-Mail 1 - Wert=a@example.com | Telefon 1 - Wert=+49 1
Outlook in German: Ann B. Öz | a@example.com | +49 2 | hi
  Anrede=Frau | Vorname=Ann | Weitere Vornamen=B. | Nachname=Öz | Suffix | Firma=Acme | Telefon geschäftlich=+49 2 |
  Mobiltelefon | E-Mail-Adresse=a@example.com | Notizen=hi
Outlook in French: Zoé Noël | z@example.com | +33 6 | salut
  Titre=Mme | Prénom=Zoé | Deuxième prénom | Nom=Noël | Suffixe | Société=Acme | Téléphone (bureau)=+33 2 |
  Tél. mobile=+33 6 | Adresse de messagerie=z@example.com | Notes=salut
Outlook in Spanish: Íñigo Muñoz | i@example.com | +34 9 | hola
  Nombre=Íñigo | Segundo nombre | Apellidos=Muñoz | Organización=Acme | Teléfono del trabajo=+34 9 | Teléfono móvil |
  Dirección de correo electrónico=i@example.com | Notas=hola
one name in Spanish: Íñigo Muñoz | i@example.com
  Nombre=Íñigo Muñoz | Correo=i@example.com
one name in French: Zoé Noël | z@example.com
  Nom=Zoé Noël | Courriel=z@example.com
a German surname called name: Ann Öz
  Name=Öz | Vorname=Ann
HubSpot: Ann Öz | a@example.com | +1 5 |  | 51
  Record ID=51 | First Name=Ann | Last Name=Öz | Email=a@example.com | Phone Number | Mobile Phone Number=+1 5 |
  Company Name=Acme | Lifecycle Stage=lead
Apple, with decomposed accents: Zoé Noël |  | +33 6
  Prénom=Zoé | Nom de famille=Noël | E-mail (work) | Téléphone mobile=+33 6
Outlook in Italian: Pia Neri | p@example.com | +39 2 | ciao
  Nome=Pia | Secondo nome | Cognome=Neri | Telefono (uff.)=+39 1 | Telefono cellulare=+39 2 |
  Indirizzo posta elettronica=p@example.com | Note=ciao
Google in Portuguese, where a nickname is called as a surname elsewhere: Ana Pó | a@example.com | +351 9 | olá
  Nome=Ana | Sobrenome=Pó | Apelido=Aninha | E-mail 1 - Value=a@example.com | Telemóvel=+351 9 | Notas=olá
Outlook in Dutch: Jo van Dam | j@example.com | +31 1 | hoi
  Voornaam=Jo | Tussenvoegsel=van | Achternaam=Dam | E-mailadres=j@example.com | Mobiele telefoon |
  Telefoon op werk=+31 1 | Notities=hoi
Outlook in Polish, whose Windows has no accents in some headers: Ola Żuk | o@example.com | +48 5 | cześć
  Imię=Ola | Nazwisko=Żuk | Adres e-mail=o@example.com | Telefon komorkowy=+48 5 | Notatki=cześć
Outlook in Japanese, whose names begin with the family: 佐伯 美緒 | m@example.com | +81 80 | 覚え
  姓=佐伯 | 名=美緒 | 電子メール アドレス=m@example.com | 携帯電話=+81 80 | 会社電話=+81 3 | メモ=覚え
Thunderbird: Ove Dal | o@example.com | 2
  First Name | Last Name | Display Name=Ove Dal | Nickname | Primary Email | Secondary Email=o@example.com |
  Work Phone | Fax Number=2 | Pager Number=3 | Mobile Number
Yahoo: Al Po | a@example.com | 2
  First=Al | Last=Po | Email=a@example.com | Home=1 | Work=2 | Pager=3 | Mobile
a Salesforce report: Gwen Ast | g@example.com | 2
  Salutation=Ms. | First Name=Gwen | Last Name=Ast | Account Name=Mills | Phone | Fax=1 | Mobile=2 |
  Email=g@example.com | Account Owner=Rae
Pipedrive: Bo | b@example.com | 7
  Person - Name=Bo | Person - Email - Work=b@example.com | Person - Phone - Mobile=7
SuiteCRM: Bo Li | b@example.com | 8 | x
  first_name=Bo | last_name=Li | phone_mobile | phone_work=8 | email1=b@example.com | description=x
Twenty: Bo Li | b@example.com | 8
  Name / First Name=Bo | Name / Last Name=Li | Emails / Primary Email=b@example.com | Phones / Primary Phone Number=8
Google: the middle name: Bo Ann Li | b@example.com
  Given Name=Bo | Additional Name=Ann | Family Name=Li | E-mail 1 - Value=b@example.com
a list that someone keeps: Dr Bo Li | b@example.com | 2 | x
  Prefix=Dr | FName=Bo | LName=Li | Email ID=b@example.com | Ph No=1 | Mob No.=2 | Remarks=x
a directory of a company: Li, Bo |  | 2
  Name, Vorname=Li, Bo | Durchwahl=12 | Telefon Nr.=1 | Mobil geschäftlich=2
tine20: Bo Li | b@example.com | 2
  n_given=Bo | n_family=Li | tel_work=1 | tel_cell=2 | email=b@example.com
Google's labels: the preferred value, and a fax that comes last: Bo | h@example.com | 2
  First Name=Bo | E-mail 1 - Label=Work | E-mail 1 - Value=w@example.com | E-mail 2 - Label=* Home |
  E-mail 2 - Value=h@example.com | Phone 1 - Label=Work Fax | Phone 1 - Value=1 | Phone 2 - Label=Mobile |
  Phone 2 - Value=2 ::: 3
File As, by which a list is sorted, names only who has no name: Ada King
  First Name=Ada | Last Name=King | File As=King, Ada | Nickname | Organization Name=Acme | Email
Thunderbird in German: Bo Li | b@example.com | 4
  Vorname=Bo | Nachname=Li | Anzeigename=Bo Li | Primäre E-Mail-Adresse=b@example.com | Tel. dienstlich=1 |
  Tel. privat=2 | Fax-Nummer=3 | Mobil-Tel.-Nr.=4
Thunderbird in French: Bo Li | b@example.com | 1
  Prénom=Bo | Nom de famille=Li | Nom à afficher=Bo Li | Adresse e-mail principale=b@example.com |
  Tél. professionnel=1 | Tél. personnel=2 | Fax=3
Thunderbird in Polish: Bo Li | b@example.com | 1
  Imię=Bo | Nazwisko=Li | Podstawowy e-mail | Dodatkowy e-mail=b@example.com | Telefonu służbowy=1 | Numer faksu=2 |
  Numer telefonu komórkowego
Thunderbird in Finnish: Bo Li | b@example.com | 2
  Etunimi=Bo | Sukunimi=Li | Näyttönimi=Bo Li | Ensisijainen sähköposti=b@example.com |
  Toissijainen sähköposti=c@example.com | Työpuhelin=1 | Matkapuhelinnumero=2
Thunderbird in Slovak: Bo Li | b@example.com | 1
  Krstné meno=Bo | Priezvisko=Li | Ďalšia e‑mailová adresa=c@example.com | Primárna e‑mailová adresa=b@example.com |
  Telefón do zamestnania=1 | Telefón domov=2
Thunderbird in Ukrainian: Оля Бойко | b@example.com | 1
  Ім'я для показу=Оля Бойко | Альтернативна адреса електронної пошти=c@example.com |
  Адреса електронної пошти=b@example.com | Номер мобільного телефону=1
Thunderbird in Japanese: 原 葵 | b@example.com | 2 | x
  表示名=原 葵 | メールアドレス=b@example.com | 別のメールアドレス=c@example.com | 勤務先の電話番号=1 | 携帯電話番号=2 | メモ=x
Thunderbird in Catalan: Bo Li | b@example.com | 2
  Nom=Bo | Cognoms=Li | Adreça electrònica principal=b@example.com | Telèfon de la feina=1 | Número de mòbil=2
Thunderbird in Portuguese, whose postal code is no number: Bo Li | b@example.com | 1
  Nome de exibição=Bo Li | E-mail principal=b@example.com | CEP=01310-100 | Telefone comercial=1
Portugal, where Apelido is the family name: Bo Li |  | 1
  Nome=Bo | Apelido=Li | Tel. mob.=1
a table with Name and Surname: Bo Li
  Surname=Li | Name=Bo | Email
a table with the whole name and the surname: Li, Bo
  Name=Li, Bo | Surname=Li | Email
EspoCRM in Slovene, whose name and first name are one word: Bo Li | b@example.com |  | x
  Ime=Bo Li | Ime=Bo | Priimek=Li | E-naslov=b@example.com | Opis=x
EspoCRM in Romanian, whose name and last name are one word: Bo Li |  |  | x
  Nume=Bo Li | Prenume=Bo | Nume=Li | Descriere=x
Outlook in Brazil: Bo Li | b@example.com | 3
  Primeiro nome=Bo | Último nome=Li | Fone comercial=1 | Fone de casa=2 | Endereço de E-mail=b@example.com |
  Celular de trabalho=3
Outlook in Russian: Мария Петровна Иванова | m@example.com | +7 2 | позвонить
  Имя=Мария | Отчество=Петровна | Фамилия=Иванова | Организация=Ромашка | Рабочий телефон=+7 1 |
  Телефон переносной=+7 2 | Адрес эл. почты=m@example.com | Заметки=позвонить
Outlook in Czech: Jiří Dvořák | j@example.com | +420 1 | přítel
  Jméno=Jiří | Příjmení=Dvořák | Společnost=Acme | Mobilní telefon=+420 1 | E-mailová adresa=j@example.com |
  Poznámky=přítel
Korean: 김민준 | m@example.com | 010-1
  이름=김민준 | 휴대폰=010-1 | 이메일=m@example.com
Korean with parts of the name: 김 민준 |  | 02-1
  성=김 | 이름=민준 | 전화번호=02-1
Calendly, which names the host as well: Bo Li | bo@example.com | +1 5
  User Name=Ann | User Email=ann@example.com | Invitee Name=Bo Li | Invitee First Name=Bo |
  Invitee Email=bo@example.com | Text Reminder Number=+1 5
a table with a prefix before each column of a person: Bo Li |  | +1-418 ext. 5 |  | 7
  Contact : Id=7 | Contact : First name=Bo | Contact : Last name=Li | Contact : Mobile=tel:+1-418;ext=5 |
  Contact : Sales owner=Cy
Outlook in Swedish: Åsa Öberg | a@example.com | 2 | hej
  Förnamn=Åsa | Mellannamn | Efternamn=Öberg | Företag=Acme | Fax, arbete=1 | Telefon, arbete=2 | Telefon, hem=3 |
  E-postadress=a@example.com | Anteckningar=hej
Outlook in Danish: Bo Li | b@example.com | 1 | hej
  Fornavn=Bo | Mellemnavn | Efternavn=Li | Firma=Acme | Arbejdstelefon=1 | Personsøger=2 | Mobiltelefon |
  E-mail-adresse=b@example.com | Noter=hej
Outlook in Norwegian: Bo Li | b@example.com | 1 | hei
  Fornavn=Bo | Mellomnavn | Etternavn=Li | Firma=Acme | Telefon arbeid=1 | Telefon hjemme=2 |
  E-postadresse=b@example.com | Notater=hei
Outlook in Finnish: Aino Salo | a@example.com | 3 | hei
  Etunimi=Aino | Toinen nimi | Sukunimi=Salo | Yritys=Acme | Työpuhelin=1 | Kotipuhelin=2 | Matkapuhelin=3 |
  Sähköpostiosoite=a@example.com | Muistiinpanot=hei
Romanian, where Nume is the family name: Ana Ionescu | a@example.com | 1
  Nume=Ionescu | Prenume=Ana | Telefon mobil=1 | Adresă de e-mail=a@example.com
Romanian with one name: Ana Ionescu |  | 1
  Nume=Ana Ionescu | Telefon=1
Croatian: Iva Horvat | i@example.com | 1 | bok
  Ime=Iva | Prezime=Horvat | Mobitel=1 | E-pošta=i@example.com | Bilješke=bok
Ukrainian: Оля Бойко | o@example.com | 1 | так
  Ім'я=Оля | Прізвище=Бойко | Робочий телефон=1 | Електронна пошта=o@example.com | Примітки=так
Hebrew: נועה כהן | n@example.com | 1 | שלום
  שם פרטי=נועה | שם משפחה=כהן | טלפון נייד=1 | דואר אלקטרוני=n@example.com | הערות=שלום
Arabic, with another form of a letter: ليلى حداد | l@example.com | 1 | أهلا
  الاسم=ليلى | اسم العائلة=حداد | رقم الجوال=1 | البريد الالكتروني=l@example.com | ملاحظات=أهلا
Persian: سارا کریمی | s@example.com | 1
  نام=سارا | نام خانوادگی=کریمی | تلفن همراه=1 | ایمیل=s@example.com
Indonesian: Siti Ayu | s@example.com | 1
  Nama=Siti Ayu | Nomor HP=1 | Alamat Email=s@example.com
Vietnamese: Lê An |  | 1 | chào
  Họ và tên=Lê An | Số điện thoại=1 | Ghi chú=chào
Thai: มาลี ใจดี |  | 1
  ชื่อ=มาลี | นามสกุล=ใจดี | เบอร์โทรศัพท์=1
a Chinese mailbox: 佐伯美緒 | m@example.com | 1
  联系人=佐伯美緒 | 电子邮箱=m@example.com | 手机号码=1 | 公司电话=2
a Japanese reader of business cards: 佐伯 美緒 | m@example.com | 1
  会社名=会社 | 氏名=佐伯 美緒 | e-mail=m@example.com | TEL会社=1 | Fax=2
types of numbers in columns of their own: Bo |  | 3
  Given Name=Bo | Phone=1 | Phone Type=Work Fax | Phone 2=2 | Phone 2 Type=Home | Phone 3=3 | Phone 3 Type=Mobile
a type in snake case: Bo |  | 2
  name=Bo | primary_phone=1 | primary_phone_type=fax | phone_2=2
kinds of numbers without a word for phones: Bo |  | 2
  Name=Bo | Mobil | Privat=1 | Arbeit=2
both parts of a name in one column: Li, Bo
  Last Name, First Name=Li, Bo | Email
the same in other words: Bo Li |  | 1
  First & Last Name=Bo Li | Phone=1
a flattened object of an API: Bo Li | b@example.com
  properties.firstname=Bo | properties.lastname=Li | properties.email=b@example.com
a form: Bo Li |  | 1
  Name (First)=Bo | Name (Last)=Li | SMS=1
Lithuanian: Ona Balsė | o@example.com | 1
  Vardas=Ona | Pavardė=Balsė | El. paštas=o@example.com | Mobilusis telefonas=1
a CRM in Russian, by the words of its columns: Оля Бойко | o@example.com | 1
  Наименование=Оля Бойко | Рабочий e-mail=o@example.com | Рабочие заметки=x | Личный мобильный телефон=1
the questions of a form: Bo Li | b@example.com | 1
  What's your name?=Bo Li | Your email address=b@example.com | Your phone number=1
names and phones in Russian: Ли Бо Янович |  | 1
  Фамилия Имя Отчество=Ли Бо Янович | Моб. телефон=1 | Тел.=2
a club in Dutch: B. van Dam
  Voorletters=B. | Tussenvoegsel=van | Achternaam=Dam
a list in Switzerland: Bo Li |  | 1
  Kontakt=Bo Li | Firma=Acme | Tel. Büro=2 | Natel=1
a shop with the code of a country beside the number: Bo Li |  | +41 791112233
  Name=Bo Li | Phone country code=41 | Phone number=791112233
the users of Google Workspace: Bo Li | b@example.com | 1
  First Name [Required]=Bo | Last Name [Required]=Li | Email Address [Required]=b@example.com | Phone [Mobile]=1
a column that companies and people share: Bo Li | b@example.com
  Firma/Nachname=Li | Firmenzusatz/Vorname=Bo | E-Mail=b@example.com
a list of types: Bo Li | b@example.com
  First Name=Bo | Last Name=Li | Email=b@example.com | Person/Company=Person | Kontakt=Ja
a job beside the name: Bo Li
  Name=Bo Li | Name/Title=CEO
a title before the name of a contact: Bo Li |  | 1
  Name Prefix=Dr. | Contact Name=Bo Li | Number=1
a house number and the code of a country: Bo Li | b@example.com
  Name=Bo Li | Email=b@example.com | Street=Hill | Number=5 | Country Code=41
a phone in camel case:  |  | 1
  homeTelNo=1
a person of a customer: Bo Li | b@example.com
  Lead Name=Acme | First Name=Bo | Last Name=Li | Email=b@example.com
a person with another form of the name: Bo L. | b@example.com
  Display Name=Bo L. | First Name=Bo | Last Name=Li | Email=b@example.com
a form with a note on the number: Bo Li |  | 1
  Name=Bo Li | Mobile number (WhatsApp)=1
business cards in Korean: 김보 | b@example.com | 1
  이름=김보 | 전자 메일 주소=b@example.com | 근무처 전화=1 | 근무처 팩스=2
an office in Hungarian: Bo Li | b@example.com | 1 | x
  Név=Bo Li | Hivatali email=b@example.com | Hivatali mobil=1 | Hivatali telefon=2 | Megjegyzések=x
a club in Swedish: Bo Li |  | 1
  Förnamn=Bo | Efternamn=Li | Telefon bostad=1
a person of a German company: Bo Li
  Ansprechpartner Vorname=Bo | Ansprechpartner Nachname=Li
Attio, whose name is a record: Bo Li
  Record=Bo Li | Company=Acme | Email addresses
a part that a program requires: Bo | b@example.com
  First Name=Bo | Last Name=- | Email=b@example.com
`;

test.each(
  [...exported.matchAll(/^(\S.*): (.*)\n((?: .*\n)+)/gm)].map(([, program = "", fields = "", columns = ""]) => ({
    program,
    fields: fields.split(" | "),
    columns: columns.split("|").map((column) => (/^\s*([^=]*?)(?:=([^]*?))?\s*$/.exec(column) ?? []).slice(1)),
  })),
)("recognizes the headers of an export: $program", async ({ fields, columns }) => {
  const rows = [0, 1].map((at) => columns.map((column) => `"${(column[at] ?? "").replaceAll('"', '""')}"`).join(","));
  const [fullName, email, phone, notes, externalId] = fields.map((field) => (field === "" ? undefined : field));
  expect((await csv(`${rows.join("\n")}\n`)).map(held)).toEqual([{ fullName, email, phone, notes, externalId }]);
});

test("a column of an email or phone is recognized by the words of its name, if it has no others [IMP-05]", async () => {
  const kinds = async (...header: readonly string[]): Promise<readonly (readonly [string, string])[]> => {
    let found: readonly (readonly [string, string])[] = [];
    const lines = linesOf(chunksOf(`Name,${header.join(",")}\n`));
    await everyOf(readCsv(lines, parseMap([]), ({ taken }) => (found = taken.slice(1))));
    return found;
  };
  expect(
    await kinds(
      ...["Secondary work e-mail", "Customer email", "faxPrivat", "Cellulare di casa", "Telefon (Büro)"],
      ...["Ansprechpartner Handynummer", "Puhelinnumero", "勤務先FAX番号"],
    ),
  ).toEqual([
    ["Customer email", "email"],
    ["Secondary work e-mail", "email if the previous column is empty"],
    ["Puhelinnumero", "phone"],
    ["Cellulare di casa", "phone (mobile)"],
    ["Ansprechpartner Handynummer", "phone (mobile)"],
    ["Telefon (Büro)", "phone (work)"],
    ["faxPrivat", "phone (fax)"],
    ["勤務先FAX番号", "phone (fax)"],
  ]);
  expect(
    await kinds(
      ...["Assistant's phone", "Owner email", "Phone type", "Email opt out", "Work address", "Phone or email"],
      ...["Telecom", "Emailing", "Hotel"],
    ),
  ).toEqual([]);
});

test("a number beside a name alone is a phone, and beside an email it may be any number [OPS-04]", async () => {
  expect((await csv("Name,Number,Type\nAnn Lee,+49 30 1,sip\n")).map(held)).toEqual([
    { fullName: "Ann Lee", phone: "+49 30 1" },
  ]);
  expect((await csv("Name,Email,Number\nAnn Lee,ann@example.com,7\n")).map(held)).toEqual([
    { fullName: "Ann Lee", email: "ann@example.com" },
  ]);
});

test("what spreadsheets add to a cell is no part of it, and a number that they have rounded is left out [IMP-06]", async () => {
  const rows = [
    ["'+49 171", "Ann", "x"],
    ['"=""0171"""', "Bo", '"=""x"""'],
    ["491715550100.0", "Cy", "x"],
    ["3.108207129E9", "Di", "x"],
    ["4.91715E+11", "Ed", "x"],
    ['"4,91715E+11"', "Flo", "x"],
    ['"491,715,550,100"', "Gus", "x"],
  ].map(([phone, name, notes], at) => `${at === 5 ? "1.2E+15" : `'${at}`},${phone},${name},${notes}`);
  const entries = await csv(`Record ID,Phone,Name,Comment\n${rows.join("\n")}\n`);
  expect(entries.map(held)).toEqual([
    { externalId: "0", phone: "+49 171", fullName: "Ann", notes: "x" },
    { externalId: "1", phone: "0171", fullName: "Bo", notes: '="x"' },
    { externalId: "2", phone: "491715550100", fullName: "Cy", notes: "x" },
    { externalId: "3", phone: "3108207129", fullName: "Di", notes: "x" },
    { externalId: "4", fullName: "Ed", notes: "x" },
    { fullName: "Flo", notes: "x" },
    { externalId: "6", phone: "491715550100", fullName: "Gus", notes: "x" },
  ]);
  expect(entries.map(({ leftOut }) => leftOut)).toEqual([0, 0, 0, 0, 1, 2, 0]);
  expect((await csv('Name,Phone\n="Bo",="1"\n')).map(held)).toEqual([{ fullName: "Bo", phone: "1" }]);
});

test("an export has these texts exactly, and an import reads them so [IMP-06]", async () => {
  const contact = create(ContactItemSchema, {
    ...{ externalId: "1.5E+10", fullName: "'+a", phone: "'4.9E+11", notes: '="x"' },
  });
  expect((await csv(csvHeader + csvRow(contact))).map(held)).toEqual([
    { externalId: "1.5E+10", fullName: "'+a", phone: "'4.9E+11", notes: '="x"' },
  ]);
});

test("reports what each column is used for: a further one is used if the one before is empty", async () => {
  const reported: (readonly [string, string])[][] = [];
  const header = "Name,First Name,Last Name,Company,Mobile,Phone,Labels";
  await everyOf(
    readCsv(linesOf(chunksOf(`${header}\nAnn,An,Li,Acme,1,2,x\n`)), parseMap([]), ({ taken }) =>
      reported.push([...taken]),
    ),
  );
  expect(Object.fromEntries(reported[0] ?? [])).toEqual({
    Name: "full_name",
    Phone: "phone",
    Mobile: "phone (mobile)",
    "First Name": "full_name if that is empty",
    "Last Name": "full_name if that is empty",
    Company: "full_name if there is no name",
  });
});

test("a header that is both the name of a field and its alias is one column", async () => {
  const reported: (readonly [string, string])[][] = [];
  const lines = linesOf(chunksOf("full_name,email,external_id\nAnn,a@example.com,7\n"));
  await everyOf(readCsv(lines, parseMap([]), ({ taken }) => reported.push([...taken])));
  expect(reported).toEqual([
    [
      ["external_id", "external_id"],
      ["full_name", "full_name"],
      ["email", "email"],
    ],
  ]);
});

test("--map assigns a column to a field or leaves it out; a header without any known column is rejected", async () => {
  expect(
    (await csv("Kunde,email,Nr\nAnn,a@example.com,7\n", ["Kunde=full_name", "nr=external_id", "email=-"])).map(held),
  ).toEqual([{ fullName: "Ann", externalId: "7" }]);
  await expect(csv("foo,bar\n1,2\n")).rejects.toThrow(
    /None of the columns is known as a name, email or phone \(foo, bar\)/,
  );
  await expect(csv("name\nAnn\n", ["nome=full_name"])).rejects.toThrow('no column "nome"');
  expect(() => parseMap(["name"])).toThrow("Header=field");
  expect(() => parseMap(["name=nickname"])).toThrow("Header=field");
});

test("the header is the row with the most known columns: rows before it are no contacts, nor is Excel's sep= line [IMP-05]", async () => {
  const linkedin =
    'Notes:\n"Some addresses are missing,\nbecause members hide them."\n\nFirst Name,Last Name,URL,Email Address,Position\nMia,Oko,https://x.example,m@example.com,Name\n';
  const reported: number[] = [];
  const lines = linesOf(chunksOf(linkedin));
  const entries = await everyOf(readCsv(lines, parseMap([]), ({ line }) => reported.push(line)));
  expect([reported, said(entries)]).toEqual([[5], [[6, { fullName: "Mia Oko", email: "m@example.com" }]]]);
  expect((await csv("sep=;\r\nName;Telefon\r\nUlla;030\r\n")).map(held)).toEqual([{ fullName: "Ulla", phone: "030" }]);
  expect((await csv("Name|Phone\nUlla, B; C|030\n")).map(held)).toEqual([{ fullName: "Ulla, B; C", phone: "030" }]);
  expect((await csv('"sep=|"\nName|Email\nUlla|u@example.com\n')).map(held)).toEqual([
    { fullName: "Ulla", email: "u@example.com" },
  ]);
  // The labels of a contact are no header, although they are known.
  const labels = "Name,E-mail 1 - Value,x,y,z\nUlla,u@example.com,Mobile,Pager,Work Fax\n";
  expect((await csv(labels)).map(held)).toEqual([{ fullName: "Ulla", email: "u@example.com" }]);
});

test("a header that comes again is no contact: files were joined [IMP-05]", async () => {
  const joined = "Name,Email\nAnn Lee,ann@example.com\nName, Email\nBo Li,bo@example.com\n";
  expect(said(await csv(joined))).toEqual([
    [2, { fullName: "Ann Lee", email: "ann@example.com" }],
    [4, { fullName: "Bo Li", email: "bo@example.com" }],
  ]);
});

test("a feed is read as soon as its header is clear", async () => {
  async function* feed(): AsyncIterable<Uint8Array> {
    yield Buffer.from("Name,Email\nAnn,a@example.com\n");
    await new Promise(() => undefined);
  }
  const { value } = await readCsv(linesOf(feed()), parseMap([]), () => undefined)
    [Symbol.asyncIterator]()
    .next();
  expect(held(value)).toEqual({ fullName: "Ann", email: "a@example.com" });
});

test("a file without a column of a name, email or phone is rejected with its columns [IMP-05]", async () => {
  await expect(csv("Datum;Notiz;Firma\n1;Blumen;Acme\n")).rejects.toThrow(
    "None of the columns is known as a name, email or phone (Datum, Notiz, Firma). One of the first 20 rows must be a header. If it is, map its columns with --map",
  );
  await expect(csv("Foarnamme,Faksnûmer,Pager\nBo,1,2\n")).rejects.toThrow(
    "None of the columns is known as a name, email or phone (Foarnamme, Faksnûmer, Pager)",
  );
  await expect(csv("\n\n,,\n")).rejects.toThrow("The file has no header: its first rows are empty.");
  await expect(csv("Na\0me,Email\n")).rejects.toThrow("The file has no header that can be read. Line 1: has a NUL");
});

test("a row is never shifted: one with more cells, a NUL or text after a closing quote is an error of its line [IMP-04]", async () => {
  const rows = [
    "Smith, John,0171",
    "Ann,0172,, ",
    'Bo, "1, 2"',
    '"Cy, the",5" x',
    '"Cy, the" x,5',
    'Cy "the",5',
    '"Cy" the,6',
    "D\0i,7",
    "Ed",
  ];
  expect(said(await csv(`Name,Phone\n${rows.join("\n")}\n`))).toEqual([
    [2, "has 3 cells, and the header has 2"],
    [3, { fullName: "Ann", phone: "0172" }],
    [4, { fullName: "Bo", phone: "1, 2" }],
    [5, { fullName: "Cy, the", phone: '5" x' }],
    [6, "has text after the closing quote of a cell: double the quotes within a cell"],
    [7, { fullName: 'Cy "the"', phone: "5" }],
    [8, { fullName: '"Cy" the', phone: "6" }],
    [9, "has a NUL character, so its encoding may be another one: set --encoding, such as utf-16le"],
    [10, { fullName: "Ed" }],
  ]);
});

test("the first valid address of a row is imported; a row is rejected if it has addresses and none is valid, or nothing but an id [IMP-06]", async () => {
  const text =
    "Record ID,Name,E-mail Address,E-mail 2 Address\n1,Ann,/o=Ex/cn=ann,Ann <a@example.com>\n2,Bo,b@example.com; c@example.com,\n3,Cy,cy-at-home,none\n4,,,\n5,Di,,\n6,Ed,/o=ExchangeLabs/ou=Group/cn=ed,\n";
  expect(said(await csv(text))).toEqual([
    [2, { externalId: "1", fullName: "Ann", email: "a@example.com" }],
    [3, { externalId: "2", fullName: "Bo", email: "b@example.com" }],
    [4, 'has no valid email address: "cy-at-home"'],
    [5, "has no name, email, phone or notes in the imported columns"],
    [6, { externalId: "5", fullName: "Di" }],
    [7, { externalId: "6", fullName: "Ed" }],
  ]);
});

test("what stands for no value is none: it costs neither the contact nor its other values [IMP-06]", async () => {
  const text = `Name,Email,E-mail 2 Address,Phone,Mobile,Comment
Ann,N/A,,n/a,,
Bo,-,b@example.com,0,0171,"-"
Cy,none,NULL,NULL,#N/A,null
Di,,rena@example.com.,########,030,"NULL"
#REF!,e@example.com,,,,\\N
Flo,,,030,private,
`;
  const entries = await csv(text);
  expect(entries.map((entry) => ("record" in entry.content ? entry.leftOut : undefined))).toEqual([0, 0, 0, 0, 0, 1]);
  expect(entries.map(held)).toEqual([
    { fullName: "Ann" },
    { fullName: "Bo", email: "b@example.com", phone: "0171", notes: "-" },
    { fullName: "Cy" },
    { fullName: "Di", email: "rena@example.com", phone: "030", notes: "NULL" },
    { email: "e@example.com" },
    { fullName: "Flo", phone: "030" },
  ]);
});

test("of several whole numbers in a cell, the first is imported; a part of a number is none", async () => {
  const numbers = [
    "+44 20 7946 0958 (office), +44 20 7946 0959 (assistant) / +44 20 7946 0960",
    "555-0100; 555-0101",
    "030 / 555 0100",
    "555 0100, ext 5",
  ];
  const entries = await csv(`Name,Phones\n${numbers.map((one) => `Ann,"${one}"\n`).join("")}`);
  expect(entries.map((entry) => (held(entry) as { readonly phone?: string }).phone)).toEqual([
    "+44 20 7946 0958 (office)",
    "555-0100",
    "030 / 555 0100",
    "555 0100, ext 5",
  ]);
});

test("quotes can be escaped by a backslash", async () => {
  const text = String.raw`Name,Comment
"Ann \"A\" Li","C:\\x"
"Bo \"B\"","x"
`;
  expect((await csv(text)).map(held)).toEqual([
    { fullName: 'Ann "A" Li', notes: "C:\\\\x" },
    { fullName: 'Bo "B"', notes: "x" },
  ]);
});

test("blanks around cells and headers are not part of them, except in the columns of an export of Records", async () => {
  expect((await csv('Name , Email\n Ann , a@example.com \n"Bo ",b@example.com\n')).map(held)).toEqual([
    { fullName: "Ann", email: "a@example.com" },
    { fullName: "Bo", email: "b@example.com" },
  ]);
  expect((await csv('full_name,notes\n" Ann ","a "\n')).map(held)).toEqual([{ fullName: " Ann ", notes: "a " }]);
});

test("what cannot be stored is left out and counted: a long id, a long phone, a date of another system", async () => {
  // Databases have columns of the same names.
  const dump = await csv("id,name,created_at,updated_at\n7,Ann,2024-01-05 10:00:00,1704448800\n");
  expect([dump[0]?.leftOut, dump.map(held)]).toEqual([2, [{ externalId: "7", fullName: "Ann" }]]);
  const text = `Record ID,Name,Phone,Created At\n${"9".repeat(201)},Ann,${"1".repeat(51)},03/15/2024\n`;
  const entries = await csv(text);
  expect([entries[0]?.leftOut, entries.map(held)]).toEqual([3, [{ fullName: "Ann" }]]);
});

test("an id that is not a UUID becomes the external id", async () => {
  const id = "0b6f5d1e-7f0b-4d3a-9a53-0d8f0c6a5f11";
  expect(said(await csv(`id,name,created_at\n${id},Ann,2026-01-31T09:30:00.123Z\n17,Bo,\n`))).toEqual([
    [2, { id, fullName: "Ann", createdAt: timestampFromDate(new Date("2026-01-31T09:30:00.123Z")) }],
    [3, { externalId: "17", fullName: "Bo" }],
  ]);
});

test("reads another encoding if it is set or marked; a line that is not UTF-8 is an error of that line alone", async () => {
  const latin = Buffer.from("name\nMüller\nLee\n", "latin1");
  expect((await csv(latin, [], "windows-1252")).map(held)).toEqual([{ fullName: "Müller" }, { fullName: "Lee" }]);
  expect(said(await csv(latin))).toEqual([
    [2, expect.stringContaining("--encoding")],
    [3, { fullName: "Lee" }],
  ]);
  expect((await csv(Buffer.from("\ufeffname\nMüller 🙂\n", "utf16le"))).map(held)).toEqual([{ fullName: "Müller 🙂" }]);
});

test.each([
  ["shift_jis", [...Buffer.from("name\n")], [0x83, 0x8a, 0x81], [0x93, 0x63]],
  ["gb18030", [...Buffer.from("name\n")], [0xff], [0xcc, 0xef]],
  ["utf-16le", [...Buffer.from("name\n", "utf16le")], [0x00, 0xd8, 0x0a, 0x4e], [0x30, 0x75]],
])(
  "a line that is not valid %s is an error of that line, and never contains U+FFFD",
  async (encoding, header, bad, good) => {
    const end = encoding === "utf-16le" ? [10, 0] : [10];
    const entries = await csv(Uint8Array.from([...header, ...bad, ...end, ...good, ...end]), [], encoding);
    const problem = `the line is not ${encoding.toUpperCase()}: set --encoding, such as windows-1252`;
    expect(said(entries)).toEqual([
      [2, problem],
      [3, { fullName: "田" }],
    ]);
  },
);

test("reads text of two bytes a character in chunks of any size and in both byte orders, also with a byte of 10 or U+FFFD in a character", async () => {
  const names = ["Müller 🙂", "\u0a0a\u4e0a\u0a4e", "was \ufffd"];
  const little = Buffer.from(`\ufeffname\r\n${names.join("\r\n")}\r\n`, "utf16le");
  for (const bytes of [little, Buffer.from(little).swap16()]) {
    for (const size of [1, 2, 3, 1_000]) {
      const lines = linesOf(chunksOf(bytes, size));
      expect((await everyOf(readCsv(lines, parseMap([]), () => undefined))).map(held)).toEqual(
        names.map((fullName) => ({ fullName })),
      );
    }
  }
});

test("yields a line as soon as it has ended", async () => {
  async function* feed(): AsyncIterable<Uint8Array> {
    yield Buffer.from("name\nAnn\n");
    await new Promise(() => undefined);
  }
  const { value } = (await linesOf(feed())[Symbol.asyncIterator]().next()) as { value: { text: string }[] };
  expect(value.map(({ text }) => text)).toEqual(["name", "Ann"]);
});

test("a line over the limit is an error of that line, and the next line is read", async () => {
  const lines = (await everyOf(linesOf(chunksOf(`short\n${"x".repeat(50)}\nnext`), "utf-8", 20))).flat();
  expect(lines.map(({ number, text, problem }) => [number, text, problem !== undefined])).toEqual([
    [1, "short", false],
    [2, "", true],
    [3, "next", false],
  ]);
});

test("a line that is longer than the limit in UTF-8 alone is an error as well", async () => {
  const bytes = Buffer.from(`${"漢".repeat(7)}\n${"漢".repeat(6)}`, "utf16le");
  const lines = (await everyOf(linesOf(chunksOf(bytes), "utf-16le", 20))).flat();
  expect(lines.map(({ text, problem }) => [text, problem !== undefined])).toEqual([
    ["", true],
    ["漢".repeat(6), false],
  ]);
});

test("a file has at most 5,000 columns: more are a usage error that says so, and many unknown ones are no work", async () => {
  const wide = (count: number): Promise<unknown> => csv(`full_name${",c".repeat(count - 1)}\nAnn\n`);
  expect(await wide(5_000)).toMatchObject([{ line: 2, content: { record: {} } }]);
  await expect(wide(500_000)).rejects.toThrow(
    "The first row has 500,000 columns, and a file can have at most 5,000. Check that it is a CSV file with a header, and remove the columns that you do not need.",
  );
  await expect(csv(`${"c,".repeat(200)}${"d".repeat(100)}\n`)).rejects.toThrow(
    `None of the columns is known as a name, email or phone (${"c, ".repeat(100)}and 101 more).`,
  );
  // Normalizing it would take quadratic time.
  const accents = "\u0315".repeat(100_000) + "\u0316".repeat(100_000);
  expect(said(await csv(`full_name,a${accents}\nAnn,b\n`))).toEqual([[2, { fullName: "Ann" }]]);
});

test("the calling code of Twenty's phones precedes a national number, and no other one", async () => {
  const header = "Name / First Name,Phones / Primary Phone Number,Phones / Primary Phone Calling Code";
  const rows = ["Ann,612345678,+33", "Bo,+44 20 7946 0958,+33", "Cy,0049 30 1,33", "Di,612345678,", "Ed,612345678,FR"];
  const found = await csv([header, ...rows].join("\n"));
  expect(found.map((entry) => (held(entry) as { readonly phone?: string }).phone)).toEqual([
    "+33 612345678",
    "+44 20 7946 0958",
    "0049 30 1",
    "612345678",
    "612345678",
  ]);
});
