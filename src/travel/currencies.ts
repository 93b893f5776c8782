/**
 * The codes of the currencies in use (ISO 4217, list one, without metals and test codes). They stand here, as those that the
 * runtime knows differ between its versions.
 */
export const currencies: ReadonlySet<string> = new Set([
  ...'AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BOV'.split(' '),
  ...'BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNY COP COU CRC CUP CVE CZK'.split(' '),
  ...'DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL'.split(' '),
  ...'HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT'.split(' '),
  ...'LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR'.split(' '),
  ...'MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF'.split(' '),
  ...'SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP'.split(' '),
  ...'TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XCD XCG'.split(' '),
  ...'XOF XPF YER ZAR ZMW ZWG'.split(' '),
]);
